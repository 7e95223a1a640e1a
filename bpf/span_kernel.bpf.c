// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Calls of functions of the kernel, on behalf of the thread that makes them. */
#include "pt_regs.bpf.h"
#include "span_site.bpf.h"
#include "span_slow.bpf.h"

/* At least what a thread has as its stack in the kernel, to which that is aligned. */
#define KERNEL_STACK_BYTES (16ULL << 10)

static __always_inline struct pkbpf_span_site *kernel_site_of(void *ctx, __u32 *ret_number)
{
	struct pkbpf_span_site *site;

	*ret_number = (__u32)bpf_get_attach_cookie(ctx);
	site = bpf_map_lookup_elem(&span_sites, ret_number);
	if (site)
		__sync_fetch_and_add(&site->hits, 1);
	return site && site->role != PKBPF_SITE_OFF && is_target() ? site : NULL;
}

/* Interrupts have stacks of their own. What they call is not the thread's work, and may come while
 * a program changes what is known about the thread. */
static __always_inline bool is_on_task_stack(__u64 stack_pointer)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return stack_pointer - (__u64)BPF_CORE_READ(task, stack) < KERNEL_STACK_BYTES;
}

/* A function of the kernel begins. A global function; always returns 0. */
__attribute__((noinline)) int span_kernel_begin(__u32 number, __u64 stack_pointer)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct pkbpf_span_site *site = bpf_map_lookup_elem(&span_sites, &number);
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct pkbpf_span_stack *stack = stack_get(pid_tgid >> 32, (__u32)pid_tgid);
	struct pkbpf_span_frame *frame;
	struct pkbpf_span_row *row;
	bool recursive = false;
	__u32 index, at;
	__u64 token;

	if (!site || !stack)
		return 0;
	token = TOKEN_OF_KERNEL | number;
	drop_kernel(stack, stack_pointer, token);
	at = frame_find(stack, token);
	if (at < PKBPF_SPAN_DEPTH) {
		index = frame_at(stack, at)->row;
		recursive = true;
	} else {
		take_name(stack, site);
		index = row_get(stack, row_of_top(stack), PKBPF_REGION_FUNCTION);
	}
	if (site->role == PKBPF_SITE_COUNT || stack->depth >= PKBPF_SPAN_DEPTH) {
		row = bpf_map_lookup_elem(&span_rows, &index);
		if (row)
			__sync_fetch_and_add(&row->unmeasured, 1);
		if (span_config.want_callers)
			note_called(stack, 0);
		return 0;
	}
	frame = frame_open(stack, index, token, stack_pointer);
	frame->flags = PKBPF_SPAN_FUNCTION | (recursive ? PKBPF_SPAN_RECURSIVE : 0);
	span_read(&frame->at, task, (__u32)pid_tgid);
	return 0;
}

/* It returns; what was called inside of it has done so before. A global function; always returns
 * 0. */
__attribute__((noinline)) int span_kernel_end(__u32 number)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), at;
	struct pkbpf_span_stack *stack = stack_find(tid);

	if (!stack)
		return 0;
	at = frame_find(stack, TOKEN_OF_KERNEL | number);
	if (at >= PKBPF_SPAN_DEPTH)
		return 0;
	for (__u32 i = 0; i < PKBPF_SPAN_DEPTH; i++) {
		__u32 depth = stack->depth;

		if (depth <= at + 1)
			break;
		frame_lose(frame_at(stack, depth - 1));
		stack->depth = depth - 1;
	}
	span_read(&stack->now, task, tid);
	frame_close(stack, at);
	stack->depth = at;
	return 0;
}

SEC("?kprobe")
int span_kernel(struct pt_regs *ctx)
{
	__u64 stack_pointer = PT_REGS_SP(ctx);
	struct pkbpf_span_site *site;
	__u32 number;

	site = kernel_site_of(ctx, &number);
	if (!site || !is_on_task_stack(stack_pointer))
		return 0;
	span_kernel_begin(number, stack_pointer);
	if (span_config.want_callers && site->role == PKBPF_SITE_COUNT)
		slow_send_here(ctx);
	return 0;
}

SEC("?kprobe")
int span_kernel_left(struct pt_regs *ctx)
{
	struct pkbpf_span_site *site;
	__u32 number;

	site = kernel_site_of(ctx, &number);
	if (!site)
		return 0;
	span_kernel_end(number);
	slow_send_here(ctx);
	return 0;
}
