/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernel stacks of CPU samples, unwound with rules that stay in a small table. */
#ifndef PKBPF_KERNEL_STACK_BPF_H
#define PKBPF_KERNEL_STACK_BPF_H

#include "stack.bpf.h"

#include <pkbpf/config.h>
#include <pkbpf/orc.h>

extern struct pkbpf_orc_tables orc_tables;

/* Scalars only, as 5.10 demands of global functions. */
int kernel_stack_walk(__u32 slot);
int kernel_stack_differs(__u32 slot, __u32 count);

#if defined(__TARGET_ARCH_x86)
/* The first walks of a CPU are compared with the kernel's own, and later one in so many, which
 * costs ten times as much. */
#define KERNEL_CHECK_FIRST 32
#define KERNEL_CHECK_EVERY 128

/* So many stacks of a CPU are left to the kernel at least before it gets all of them. */
#define KERNEL_LEFT_ENOUGH 256

/* Bytes copied first, behind the stack pointer. */
#define KERNEL_FIRST_WINDOW_BYTES 1024

/* True: the stack is whole, and as the kernel sees it where that was compared. */
static __always_inline bool kernel_stack_check(struct bpf_perf_event_data *ctx,
					       struct sample_scratch *scratch)
{
	struct unwind_scratch *unwind = &scratch->unwind;
	__u32 walks = ++unwind->kernel_walks;
	long size;

	if (walks > KERNEL_CHECK_FIRST && walks % KERNEL_CHECK_EVERY)
		return true;
	size = bpf_get_stack(ctx, unwind->window, PKBPF_MAX_KERNEL_FRAMES * 8, 0);
	counter_add(PKBPF_COUNTER_KERNEL_WALK_CHECKED, 1);
	if (size > 0 && !kernel_stack_differs(unwind->slot, size / 8))
		return true;
	counter_add(PKBPF_COUNTER_KERNEL_WALK_WRONG, 1);
	/* Another format, or a case that nobody thought of: no stack after this one is unwound
	 * here. */
	orc_tables.text_bytes = 0;
	return false;
}

static __always_inline void stack_read_kernel_of_perf_event(struct bpf_perf_event_data *ctx,
							    struct sample_scratch *scratch)
{
	struct unwind_scratch *unwind = &scratch->unwind;
	__u64 sp = ctx->regs.sp;

	if (orc_tables.text_bytes && (__s64)sp < 0) {
		unwind->state.ip = ctx->regs.ip;
		unwind->state.sp = sp;
		unwind->state.fp = ctx->regs.bp;
		unwind->state.flags = PKBPF_UNWIND_EXACT;
		unwind->window_size = 0;
		unwind->window_next = KERNEL_FIRST_WINDOW_BYTES;
		unwind->window_goal = 0;
		if (kernel_stack_walk(unwind->slot) && kernel_stack_check(ctx, scratch))
			return;
		counter_add(PKBPF_COUNTER_KERNEL_WALK_LEFT, 1);
		/* Where most stacks run through modules or what tracers have changed, it is not
		 * worth it. */
		if (++unwind->kernel_left >= KERNEL_LEFT_ENOUGH &&
		    unwind->kernel_left > unwind->kernel_walks)
			orc_tables.text_bytes = 0;
	}
	stack_read_kernel(ctx, scratch);
}
#else
#define stack_read_kernel_of_perf_event stack_read_kernel
#endif

#endif
