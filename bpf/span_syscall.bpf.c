// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Calls of the kernel, as calls of functions: a thread is in one at a time. */
#include "span_site.bpf.h"
#include "span_slow.bpf.h"
#include "syscall_compat.bpf.h"

#include <pkbpf/syscall_sites.h>

/* What tells them from other calls. */
#define TOKEN_OF_SYSCALLS (1ULL << 61)
#define TOKEN_NUMBER	  0xffffffffULL

/* Site of system call 0. */
const volatile __u32 first_syscall_site = 0;

static __always_inline bool is_syscall(const struct pkbpf_span_frame *frame)
{
	return (frame->token & ~TOKEN_NUMBER) == TOKEN_OF_SYSCALLS;
}

/* Calls that end in another way, as exec does: nothing of a program happens in a call. */
static __always_inline void drop_syscall(struct pkbpf_span_stack *stack)
{
	__u32 depth;

	drop_kernel(stack, ~0ULL, 0);
	depth = stack->depth;
	if (!depth || !is_syscall(frame_at(stack, depth - 1)))
		return;
	frame_lose(frame_at(stack, depth - 1));
	stack->depth = depth - 1;
}

/* A global function; always returns 0. */
__attribute__((noinline)) int span_syscall_begin(__u32 number)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct pkbpf_span_site *site = bpf_map_lookup_elem(&span_sites, &number);
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct pkbpf_span_stack *stack = stack_get(pid_tgid >> 32, (__u32)pid_tgid);
	struct pkbpf_span_frame *frame;
	struct pkbpf_span_row *row;
	__u32 index;

	if (!site || !stack)
		return 0;
	drop_syscall(stack);
	take_name(stack, site);
	index = row_get(stack, row_of_top(stack), PKBPF_REGION_FUNCTION);
	if (site->role == PKBPF_SITE_COUNT || stack->depth >= PKBPF_SPAN_DEPTH) {
		row = bpf_map_lookup_elem(&span_rows, &index);
		if (row)
			__sync_fetch_and_add(&row->unmeasured, 1);
		return 0;
	}
	frame = frame_open(stack, index, TOKEN_OF_SYSCALLS | number, 0);
	frame->flags = PKBPF_SPAN_FUNCTION;
	span_read(&frame->at, task, (__u32)pid_tgid);
	return 0;
}

/* A global function; always returns 0. */
__attribute__((noinline)) int span_syscall_end(__u32 tid)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct pkbpf_span_stack *stack = stack_find(tid);
	__u32 depth;

	if (!stack)
		return 0;
	drop_kernel(stack, ~0ULL, 0);
	depth = stack->depth;
	if (!depth || !is_syscall(frame_at(stack, depth - 1)))
		return 0;
	span_read(&stack->now, task, tid);
	frame_close(stack, depth - 1);
	stack->depth = depth - 1;
	return 0;
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(span_syscall, struct pt_regs *regs, long id)
{
	__u32 number = first_syscall_site + (__u32)id;
	struct pkbpf_span_site *site;

	if ((__u64)id >= PKBPF_SYSCALLS)
		return 0;
	site = bpf_map_lookup_elem(&span_sites, &number);
	if (!site || site->role == PKBPF_SITE_OFF || !is_target() || is_compat())
		return 0;
	__sync_fetch_and_add(&site->hits, 1);
	span_syscall_begin(number);
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(span_syscall_left, struct pt_regs *regs, long result)
{
	if (!is_running())
		return 0;
	span_syscall_end((__u32)bpf_get_current_pid_tgid());
	slow_send_here(ctx);
	return 0;
}
