/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads kernel and user stacks of the current task into a sample. */
#ifndef PKBPF_STACK_BPF_H
#define PKBPF_STACK_BPF_H

#include "shared.bpf.h"

static __always_inline bool current_is_kernel_thread(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	if (typed_task_exists())
		return bpf_get_current_task_btf()->flags & PF_KTHREAD;
	return BPF_CORE_READ(task, flags) & PF_KTHREAD;
}

static __always_inline bool perf_regs_in_kernel(struct bpf_perf_event_data *ctx)
{
#if defined(__TARGET_ARCH_x86)
	return (ctx->regs.cs & 3) == 0;
#else
	return (ctx->regs.pstate & 0xf) != 0;
#endif
}

static __always_inline void stack_read_kernel(void *ctx, struct sample_scratch *scratch)
{
	long size = bpf_get_stack(ctx, scratch->ips, PKBPF_MAX_KERNEL_FRAMES * 8, 0);

	if (size < 0) {
		counter_add(PKBPF_COUNTER_KERNEL_STACK_FAILED, 1);
		return;
	}
	scratch->sample.n_kernel = size / 8;
}

/* Reads the user stack by frame pointers, through the kernel's unwinder, which does not report
 * whether it reached the root. */
static __always_inline void stack_read_user_fp(void *ctx, struct sample_scratch *scratch)
{
	__u32 first = scratch->sample.n_kernel;
	long size;

	if (first > PKBPF_MAX_KERNEL_FRAMES)
		return;
	size = bpf_get_stack(ctx, &scratch->ips[first], PKBPF_MAX_KERNEL_FRAMES * 8,
			     BPF_F_USER_STACK);
	if (size <= 0) {
		scratch->sample.user_end = PKBPF_END_FAULT_HELPER;
		counter_add(PKBPF_COUNTER_USER_STACK_FAILED, 1);
		return;
	}
	scratch->sample.n_user = size / 8;
	/* A full buffer means a truncated stack (the helper goes no deeper than sysctl
	 * kernel.perf_event_max_stack, 127). */
	scratch->sample.user_end =
		size >= PKBPF_MAX_KERNEL_FRAMES * 8 ? PKBPF_END_MAX_DEPTH : PKBPF_END_UNVERIFIED;
}

static __always_inline void stack_prepare_walk(struct sample_scratch *scratch)
{
	struct unwind_scratch *unwind = &scratch->unwind;

	unwind->state.depth = 0;
	unwind->state.guessed = 0;
	unwind->state.generated_ip = 0;
	unwind->state.flags = config.unwind_mode == PKBPF_UNWIND_DWARF ? PKBPF_UNWIND_NO_GUESS : 0;
	unwind->first_frame = scratch->sample.n_kernel;
	unwind->limit = 1;
	unwind->end = 0;
	unwind->epoch = scratch->sample.header.time_ns >> 30;
	unwind->regs_ready = 0;
	unwind->in_exec = 0;
	unwind->new_thread = 0;
	unwind->compat = 0;
	unwind->want_raw = 0;
	unwind->python_anchor = ~0ULL;
	unwind->python_names = 0;
	unwind->python_count = 0;
	unwind->kernel_sp = 0;
	unwind->probed_call = 0;
	unwind->window_size = 0;
	unwind->window_next = UNWIND_FIRST_WINDOW_BYTES;
	unwind->window_goal = 0;
}

/* Reads the user stack of the current task, for programs of any type. Call it after
 * stack_read_kernel(), because user frames follow kernel frames. */
static __always_inline void stack_read_user(void *ctx, struct sample_scratch *scratch)
{
	if (config.unwind_mode == PKBPF_UNWIND_FP) {
		/* Most tasks that wait are in a system call. */
		scratch->sample.header.flags |= PKBPF_SAMPLE_AFTER_SYSCALL;
		stack_read_user_fp(ctx, scratch);
		return;
	}
	stack_prepare_walk(scratch);
	unwind_user_stack(scratch->unwind.slot);
}

#if defined(__TARGET_ARCH_x86)
#define USER32_CS 0x23

/* Takes the registers of interrupted user code, or of kernel code that still has the user's stack
 * pointer: the first and last instructions of a system call run in kernel mode on the user's stack,
 * with the user's ip in rcx. */
static __always_inline void stack_take_perf_regs(struct bpf_perf_event_data *ctx,
						 struct unwind_scratch *unwind)
{
	bool user = (ctx->regs.cs & 3) == 3;
	__u64 *regs = unwind->state.regs;
	__u64 ip = ctx->regs.ip, cx = ctx->regs.cx;

	/* The compiler must not choose between addresses in the context: the verifier requires
	 * constant offsets. */
	barrier_var(ip);
	barrier_var(cx);
	unwind->kernel_sp = user ? 0 : ctx->regs.sp;
	if (!user && (__s64)ctx->regs.sp < 0)
		return;
	regs[0] = ctx->regs.r8;
	regs[1] = ctx->regs.r9;
	regs[2] = ctx->regs.r10;
	regs[3] = ctx->regs.r11;
	regs[4] = ctx->regs.r12;
	regs[5] = ctx->regs.r13;
	regs[6] = ctx->regs.r14;
	regs[7] = ctx->regs.r15;
	regs[8] = ctx->regs.di;
	regs[9] = ctx->regs.si;
	regs[10] = ctx->regs.bp;
	regs[11] = ctx->regs.bx;
	regs[12] = ctx->regs.dx;
	regs[13] = ctx->regs.ax;
	regs[14] = cx;
	regs[15] = ctx->regs.sp;
	regs[16] = user ? ip : cx;
	unwind->compat = ctx->regs.cs == USER32_CS;
	unwind->state.flags |= user ? PKBPF_UNWIND_REGS | PKBPF_UNWIND_EXACT : PKBPF_UNWIND_REGS;
	unwind->regs_ready = 1;
}
#else
static __always_inline void stack_take_perf_regs(struct bpf_perf_event_data *ctx,
						 struct unwind_scratch *unwind)
{
	unwind->kernel_sp = perf_regs_in_kernel(ctx) ? ctx->regs.sp : 0;
	/* For code interrupted in user mode, the task's saved registers are those of the event. */
}
#endif

/* stack_read_user() for perf_event programs, whose context has the registers if user code was
 * interrupted. */
static __always_inline void stack_read_user_of_perf_event(struct bpf_perf_event_data *ctx,
							  struct sample_scratch *scratch)
{
	if (config.unwind_mode == PKBPF_UNWIND_FP) {
		if (perf_regs_in_kernel(ctx))
			scratch->sample.header.flags |= PKBPF_SAMPLE_AFTER_SYSCALL;
		stack_read_user_fp(ctx, scratch);
		return;
	}
	stack_prepare_walk(scratch);
	stack_take_perf_regs(ctx, &scratch->unwind);
	unwind_user_stack(scratch->unwind.slot);
}

#endif
