// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which thread ends each wait of a trace. Only with --trace: it costs a little at every wake-up. */
#include "offcpu.bpf.h"
#include "task_regs.bpf.h"

/* At least what a thread has as its stack in the kernel, to which that is aligned. */
#define KERNEL_STACK_BYTES (16ULL << 10)

/* Interrupts have stacks of their own, and the arguments of a tracepoint lie on the stack in use.
 * The address of an argument is no number to the verifier, until it has been in a map. */
static __always_inline bool is_on_task_stack(void *ctx, struct pkbpf_wait_cause *cause)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	*(volatile __u64 *)&cause->place = (__u64)ctx;
	return *(volatile __u64 *)&cause->place - (__u64)BPF_CORE_READ(task, stack) <
	       KERNEL_STACK_BYTES;
}

/* An interrupt that hits a program outside of the kernel runs on the thread's own stack; so does a
 * page fault. Neither has the number of a system call. */
static __always_inline bool is_in_syscall(void)
{
	struct pt_regs *regs = (struct pt_regs *)task_regs_address();

#if defined(__TARGET_ARCH_x86)
	return (long)BPF_CORE_READ(regs, orig_ax) != -1;
#else
	return (int)BPF_CORE_READ(regs, syscallno) != -1;
#endif
}

/* Whether it is the current thread's own doing that another one is woken. */
static __always_inline bool is_own_doing(void *ctx, struct pkbpf_wait_cause *cause)
{
	return is_on_task_stack(ctx, cause) && (current_is_kernel_thread() || is_in_syscall());
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(offcpu_trace_wake, struct task_struct *task)
{
	struct pkbpf_wait_cause *cause;
	struct pkbpf_thread *thread;
	__u32 current, slot;

	if (!offcpu_control.start_ns || offcpu_control.end_ns)
		return 0;
	thread = thread_find(task->pid, &slot);
	if (!thread || thread->place != PKBPF_THREAD_OFF_CPU ||
	    thread->state == PKBPF_WAIT_RUNQUEUE)
		return 0;
	cause = bpf_map_lookup_elem(&offcpu_causes, &slot);
	if (!cause)
		return 0;
	current = (__u32)bpf_get_current_pid_tgid();
	cause->waker = current;
	/* A CPU that runs no thread is woken by interrupts alone. */
	cause->wake =
		current && is_own_doing(ctx, cause) ? PKBPF_WAKE_THREAD : PKBPF_WAKE_INTERRUPT;
	return 0;
}
