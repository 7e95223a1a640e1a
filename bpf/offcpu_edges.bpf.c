// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The task iterator for off-CPU time. At the edges of the interval it handles threads that were
 * blocked before the start, and waits that the end truncates. In between, where only a sample of
 * the waits gets stacks, it handles waits that have become long. */
#include "context_request.bpf.h"
#include "kernel_compat.bpf.h"
#include "offcpu_lock_end.bpf.h"
#include "offcpu_wait.bpf.h"
#include "stack.bpf.h"
#include "task_filter.bpf.h"
#include "uprobe.bpf.h"

/* Stacks that user space will send have ids of their own: this bit, the tid, and the start of the
 * wait. */
#define EDGE_STACK_ID 0x8000000000000000ULL
#define EDGE_TID_BITS 22 /* the kernel's PID_MAX_LIMIT */
/* Two ticks at 100 Hz: sum_exec_runtime of a running thread has grown by then. */
#define UNSEEN_LEAVE_NS 20000000ULL

static __always_inline __u64 edge_stack_id(__u32 tid, __u64 since_ns)
{
	return EDGE_STACK_ID |
	       ((since_ns >> 10 << EDGE_TID_BITS | tid) & ~(EDGE_STACK_ID | EDGE_STACK_ID >> 1));
}

struct edge_scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_blocked_thread);
};
struct edge_scratch_map edge_scratch SEC(".maps");

static __always_inline bool is_target(struct task_struct *task)
{
	return (offcpu_config.kernel_threads || !(task->flags & PF_KTHREAD)) && filter_task(task);
}

/* Reads the registers in the order of a raw stack record. */
static __always_inline void take_regs(struct pkbpf_blocked_thread *blocked,
				      struct task_struct *task)
{
	struct pt_regs *regs;

	blocked->has_regs = 0;
	if (!task_pt_regs_exists() || (task->flags & PF_KTHREAD))
		return;
	regs = (void *)bpf_task_pt_regs(task);
#if defined(__TARGET_ARCH_x86)
	if ((BPF_CORE_READ(regs, cs) & 3) != 3 || BPF_CORE_READ(regs, cs) == USER32_CS)
		return;
	/* Workers of io_uring and vhost were never in user mode. */
	if (!BPF_CORE_READ(regs, ip) && !BPF_CORE_READ(regs, sp))
		return;
	blocked->regs[0] = BPF_CORE_READ(regs, ax);
	blocked->regs[1] = BPF_CORE_READ(regs, dx);
	blocked->regs[2] = BPF_CORE_READ(regs, cx);
	blocked->regs[3] = BPF_CORE_READ(regs, bx);
	blocked->regs[4] = BPF_CORE_READ(regs, si);
	blocked->regs[5] = BPF_CORE_READ(regs, di);
	blocked->regs[6] = BPF_CORE_READ(regs, bp);
	blocked->regs[7] = BPF_CORE_READ(regs, sp);
	blocked->regs[8] = BPF_CORE_READ(regs, r8);
	blocked->regs[9] = BPF_CORE_READ(regs, r9);
	blocked->regs[10] = BPF_CORE_READ(regs, r10);
	blocked->regs[11] = BPF_CORE_READ(regs, r11);
	blocked->regs[12] = BPF_CORE_READ(regs, r12);
	blocked->regs[13] = BPF_CORE_READ(regs, r13);
	blocked->regs[14] = BPF_CORE_READ(regs, r14);
	blocked->regs[15] = BPF_CORE_READ(regs, r15);
	blocked->regs[16] = BPF_CORE_READ(regs, ip);
	blocked->after_syscall = (__s64)BPF_CORE_READ(regs, orig_ax) != -1;
#else
	if ((BPF_CORE_READ(regs, user_regs.pstate) & 0xf) != 0)
		return;
	for (int i = 0; i < 31; i++)
		bpf_probe_read_kernel(&blocked->regs[i], 8, &regs->user_regs.regs[i]);
	blocked->regs[31] = BPF_CORE_READ(regs, user_regs.sp);
	blocked->regs[32] = BPF_CORE_READ(regs, user_regs.pc);
	blocked->after_syscall = BPF_CORE_READ(regs, syscallno) != -1;
#endif
	blocked->has_regs = 1;
}

/* Asks user space to send the stack of a thread that is not running. */
static __always_inline void send_blocked(struct bpf_iter__task *ctx, struct task_struct *task,
					 __u64 stack_id)
{
	struct pkbpf_blocked_thread *blocked;
	struct pkbpf_probed_calls *calls;
	struct uprobe_task *probes;
	__u64 trampoline = 0;
	__u32 zero = 0;
	long size;

	blocked = bpf_map_lookup_elem(&edge_scratch, &zero);
	if (!blocked)
		return;
	blocked->pid = task->tgid;
	blocked->tid = task->pid;
	blocked->stack_id = stack_id;
	blocked->n_kernel = 0;
	size = bpf_get_task_stack(task, blocked->ips, sizeof(blocked->ips), 0);
	if (size > 0)
		blocked->n_kernel = size / 8;
	take_regs(blocked, task);
	blocked->is_probed = 0;
	calls = bpf_map_lookup_elem(&probed_calls, &zero);
	probes = find_probes(task, &trampoline);
	if (calls && probes && blocked->has_regs)
		blocked->is_probed = uprobe_list_calls((__u64)probes, trampoline);
	bpf_seq_write(ctx->meta->seq, blocked, sizeof(*blocked));
	if (calls && blocked->is_probed)
		bpf_seq_write(ctx->meta->seq, calls, sizeof(*calls));
}

/* Makes an account for a thread that is not running when the interval begins. Its wait counts from
 * the start, and user space sends its stack. */
static __always_inline void begin_blocked(struct bpf_iter__task *ctx, struct task_struct *task)
{
	__u64 start_ns = offcpu_control.start_ns;
	__u32 slot, state = task_state(task);
	struct pkbpf_thread *thread;

	if (task->on_cpu || (state & (TASK_DEAD | EXIT_DEAD_ZOMBIE)) ||
	    BPF_CORE_READ(task, start_time) > start_ns || thread_find(task->pid, &slot))
		return;
	thread = thread_create(task, start_ns, &slot);
	if (!thread)
		return;
	thread->state = state ? wait_state_of(task, state) : PKBPF_WAIT_RUNQUEUE;
	thread->flags = PKBPF_THREAD_OPEN;
	thread->run_delay_ns = task->sched_info.run_delay;
	thread->ran_ns = task->se.sum_exec_runtime;
	thread->stack_id = edge_stack_id(task->pid, start_ns);
	thread->weight = 1;
	thread->cgroup_id = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	thread->place = PKBPF_THREAD_OFF_CPU;
	send_blocked(ctx, task, thread->stack_id);
}

/*
 * A long wait counts by itself, whether it was chosen for a stack or not. In a sample of a few
 * waits, its length times their weight would dominate the result or be missing from it. All waits
 * that a visit finds are removed from the choice, so that the chosen ones still represent the rest.
 */
static __always_inline void visit_waiting(struct bpf_iter__task *ctx, struct task_struct *task)
{
	__u64 visit_ns = offcpu_control.visit_ns, since_ns;
	struct pkbpf_thread *thread;
	bool chosen;
	__u32 slot;

	thread = thread_find(task->pid, &slot);
	if (!thread || thread->place != PKBPF_THREAD_OFF_CPU || thread->weight == 1)
		return;
	since_ns = *(volatile __u64 *)&thread->since_ns;
	if (visit_ns < since_ns + PKBPF_OFFCPU_LONG_NS)
		return;
	chosen = thread->weight != 0;
	thread->weight = 1;
	if (chosen)
		return;
	thread->row = PKBPF_NO_ROW;
	thread->waker_id = 0;
	thread->stack_id = edge_stack_id(task->pid, since_ns);
	thread->flags |= PKBPF_THREAD_VISITED;
	send_blocked(ctx, task, thread->stack_id);
}

/* Makes an account for a thread without a switch: it was on its CPU from the start, or from its own
 * start, to the end. It may have left the CPU since the end. But a thread that became a target late
 * (by comm or cgroup) may have waited all the time. */
static __always_inline void account_unswitched(struct task_struct *task, __u64 end_ns)
{
	__u64 from_ns = BPF_CORE_READ(task, start_time), queue_ns = 0;
	struct pkbpf_thread *thread;
	__u32 slot;

	if (offcpu_control.had_no_room || from_ns >= end_ns ||
	    (task_state(task) & (TASK_DEAD | EXIT_DEAD_ZOMBIE)) || !is_target(task))
		return;
	if (!task->on_cpu && (from_ns > offcpu_control.start_ns ||
			      config.target_mode == PKBPF_TARGET_CGROUP || config.match_comm))
		return;
	if (from_ns > offcpu_control.start_ns)
		queue_ns = task->sched_info.run_delay;
	else
		from_ns = offcpu_control.start_ns;
	if (queue_ns > end_ns - from_ns)
		queue_ns = end_ns - from_ns;
	thread = thread_create(task, from_ns, &slot);
	if (!thread)
		return;
	thread->cgroup_id = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	thread->time_ns[PKBPF_WAIT_RUNQUEUE] = queue_ns;
	thread->time_ns[PKBPF_WAIT_NONE] = end_ns - from_ns - queue_ns;
	thread->count[PKBPF_WAIT_NONE] = 1;
	thread->since_ns = end_ns;
	thread->place = PKBPF_THREAD_ENDED;
}

/* Adds the stay of a thread on its CPU up to the end. It may have left the CPU unseen: kernels hide
 * the switches of some tasks. sum_exec_runtime shows that; it lacks interrupts and the time since
 * the last tick. */
static __always_inline void end_stay(struct task_struct *task, struct pkbpf_thread *thread,
				     __u64 passed_ns)
{
	__u64 ran_ns = task->se.sum_exec_runtime - thread->ran_ns;

	if (!task->on_cpu && passed_ns > UNSEEN_LEAVE_NS && ran_ns < passed_ns / 4) {
		thread->time_ns[PKBPF_WAIT_SLEEP] += passed_ns - ran_ns;
		passed_ns = ran_ns;
		counter_add(PKBPF_COUNTER_OFFCPU_UNSEEN_SWITCHES, 1);
	}
	thread->time_ns[PKBPF_WAIT_NONE] += passed_ns;
}

/* A wait in flight at the end of the interval counts up to the end. */
static __always_inline void end_waits(struct task_struct *task)
{
	__u64 end_ns = offcpu_control.end_ns, stay_ns, queue_ns;
	struct pkbpf_thread *thread;
	__u32 slot;

	thread = thread_find(task->pid, &slot);
	if (!thread) {
		account_unswitched(task, end_ns);
		return;
	}
	stay_ns = thread->place == PKBPF_THREAD_ON_CPU ? thread->since_ns : end_ns;
	queue_ns = task->sched_info.run_delay - thread->run_delay_ns;
	if (thread->place == PKBPF_THREAD_ON_CPU) {
		if (context_config.requests)
			context_note_wait(slot, queue_ns);
		wait_finish(slot, task->sched_info.run_delay);
		if (end_ns > thread->since_ns)
			end_stay(task, thread, end_ns - thread->since_ns);
	} else if (thread->place == PKBPF_THREAD_OFF_CPU && end_ns > thread->since_ns) {
		thread->pending_ns = end_ns - thread->since_ns;
		/* As when it comes onto a CPU: the wait is what lies before. */
		thread->since_ns = end_ns;
		thread->flags |= PKBPF_THREAD_OPEN;
		thread->row = PKBPF_NO_ROW;
		if (offcpu_config.locks)
			lock_end(slot, end_ns);
		if (context_config.requests)
			context_note_wait(slot, queue_ns);
		wait_finish(slot, task->sched_info.run_delay);
	}
	if (end_ns > thread->since_ns)
		thread->since_ns = end_ns;
	thread->place = PKBPF_THREAD_ENDED;
	if (context_config.requests)
		context_end(slot, stay_ns);
}

SEC("?iter/task")
int offcpu_edge(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	if (offcpu_control.end_ns)
		end_waits(task);
	else if (offcpu_control.visit_ns)
		visit_waiting(ctx, task);
	else if (is_target(task) && (__u32)task->pid != offcpu_config.waiting_pid)
		begin_blocked(ctx, task);
	return 0;
}
