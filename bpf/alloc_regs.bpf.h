/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The user stack at a probe of an allocator. */
#ifndef PKBPF_ALLOC_REGS_BPF_H
#define PKBPF_ALLOC_REGS_BPF_H

#include "stack.bpf.h"

#if defined(__TARGET_ARCH_x86)
/* The context, not the task's saved registers: at a probe that the kernel has optimized into a
 * system call, those look like a call's, with an ip that is no return address. */
static __always_inline void take_probe_regs(struct pt_regs *ctx, struct unwind_scratch *unwind)
{
	__u64 *regs = unwind->state.regs;

	regs[0] = ctx->r8;
	regs[1] = ctx->r9;
	regs[2] = ctx->r10;
	regs[3] = ctx->r11;
	regs[4] = ctx->r12;
	regs[5] = ctx->r13;
	regs[6] = ctx->r14;
	regs[7] = ctx->r15;
	regs[8] = ctx->di;
	regs[9] = ctx->si;
	regs[10] = ctx->bp;
	regs[11] = ctx->bx;
	regs[12] = ctx->dx;
	regs[13] = ctx->ax;
	regs[14] = ctx->cx;
	regs[15] = ctx->sp;
	regs[16] = ctx->ip;
	unwind->state.flags |= PKBPF_UNWIND_REGS | PKBPF_UNWIND_EXACT;
	unwind->regs_ready = 1;
}
#else
/* The breakpoint is no system call: the task's saved registers are those of the probe. */
static __always_inline void take_probe_regs(struct pt_regs *ctx, struct unwind_scratch *unwind)
{
}
#endif

static __always_inline void alloc_read_stack(struct pt_regs *ctx, struct sample_scratch *scratch)
{
	if (config.unwind_mode == PKBPF_UNWIND_FP) {
		stack_read_user_fp(ctx, scratch);
		return;
	}
	stack_prepare_walk(scratch);
	take_probe_regs(ctx, &scratch->unwind);
	unwind_user_stack(scratch->unwind.slot);
}

#endif
