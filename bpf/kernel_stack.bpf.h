/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernel stacks of CPU samples, unwound with rules cached in a small table. */
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
/* The first stacks of a CPU are verified against the kernel's own unwinder, later one in
 * KERNEL_CHECK_EVERY. A verification costs ten times as much as the unwinding. */
#define KERNEL_CHECK_FIRST 32
#define KERNEL_CHECK_EVERY 128

/* A CPU has at least this many fallbacks to the kernel's unwinder before all stacks are left to
 * it. */
#define KERNEL_LEFT_ENOUGH 256

/* Bytes copied first, from the stack pointer upwards. */
#define KERNEL_FIRST_WINDOW_BYTES 1024

/* True: the stack is complete, and equal to the kernel's where that was compared. */
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
	/* Another table format, or an unknown case: from now on no stack is unwound here. */
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
		/* If most stacks go through modules or through code changed by tracers, unwinding
		 * here does not pay. */
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
