/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chooses which waits of busy threads get a stack, so that stacks keep within --max-overhead. For
 * one program: its map is here. */
#ifndef PKBPF_OFFCPU_CHOICE_BPF_H
#define PKBPF_OFFCPU_CHOICE_BPF_H

#include "offcpu.bpf.h"

/* Each place may have this part of a thread's quota. */
#define SITE_PART 2
/* Places where busy threads wait, by a hash: those that share a slot are taken for one. */
#define SITE_BITS 14

struct wait_site {
	__u32 window;	     /* in which waits are counted now */
	__u16 waits, before; /* in it, and in the one before */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << SITE_BITS);
	__type(key, __u32);
	__type(value, struct wait_site);
} offcpu_sites SEC(".maps");

/* Stacks of a thread that waits often: how many waits of the next window share one. */
static __always_inline __u32 sample_mask_of(__u32 waits, __u32 quota)
{
	__u32 mask = waits / quota;

	/* A power of two less one, not below it. */
	mask |= mask >> 1;
	mask |= mask >> 2;
	mask |= mask >> 4;
	return mask < PKBPF_OFFCPU_MAX_MASK ? mask : PKBPF_OFFCPU_MAX_MASK;
}

/* Where the current task waits, as far as that can be told without its stack: in which system call
 * of which frame. How deep it is in the kernel would tell more, but many kernels add a random
 * number to that. */
static __always_inline struct wait_site *wait_site_of(struct task_struct *task,
						      const struct pkbpf_thread *thread)
{
	__u64 hash = (__u64)thread->tid << 3 | thread->state;
	struct pt_regs *regs;
	__u32 index;

	/* Preemption may meet it anywhere. */
	if (thread->state != PKBPF_WAIT_RUNQUEUE && task_pt_regs_exists() &&
	    !(task->flags & PF_KTHREAD)) {
		regs = (void *)bpf_task_pt_regs(task);
#if defined(__TARGET_ARCH_x86)
		if ((__s64)regs->orig_ax >= 0)
			hash = hash * 0x9E3779B97F4A7C15ULL ^ regs->ip ^ regs->sp << 20;
#else
		if (regs->syscallno >= 0)
			hash = hash * 0x9E3779B97F4A7C15ULL ^ regs->user_regs.pc ^
			       regs->user_regs.sp << 20;
#endif
	}
	index = hash * 0x9E3779B97F4A7C15ULL >> (64 - SITE_BITS);
	return bpf_map_lookup_elem(&offcpu_sites, &index);
}

/* Of places where a thread waits seldom a larger part is chosen, as long as there are few such. */
static __always_inline __u32 site_mask(struct task_struct *task, struct pkbpf_thread *thread,
				       __u32 window, __u32 quota)
{
	struct wait_site *site = wait_site_of(task, thread);
	__u32 mask, waits;

	if (!site)
		return thread->sample_mask;
	if (site->window != window) {
		site->before = site->window + 1 == window ? site->waits : 0;
		site->window = window;
		site->waits = 0;
	}
	waits = site->waits += site->waits < 0xffff;
	if (waits < site->before)
		waits = site->before;
	mask = sample_mask_of(waits, quota / SITE_PART);
	if (mask >= thread->sample_mask || thread->rare_waits >= quota)
		return thread->sample_mask;
	return mask;
}

/*
 * Chooses whether the wait that begins gets a stack: all those of threads that wait seldom, and of
 * others as many as the quota says, by the number of their waits in the window before, and as many
 * again of places where they wait seldom. So the choice knows nothing of how long the wait will be,
 * and the times of those chosen, times the weight, are right on average; and a long wait among
 * thousands of short ones is no matter of luck. thread->weight: 0 if it gets none.
 */
static __always_inline void wait_choose(struct task_struct *task, struct pkbpf_thread *thread,
					__u64 now_ns)
{
	__u32 window = now_ns >> PKBPF_OFFCPU_WINDOW_SHIFT, quota = offcpu_control.quota, mask;

	thread->weight = 1;
	if (!quota)
		return;
	if (thread->window != window) {
		thread->sample_mask = thread->window + 1 == window
					      ? sample_mask_of(thread->window_waits, quota)
					      : 0;
		thread->window = window;
		thread->window_waits = 0;
		thread->rare_waits = 0;
	}
	thread->window_waits++;
	if (!thread->sample_mask)
		return;
	mask = site_mask(task, thread, window, quota);
	/* Bits of the clock that nobody can foresee; the kernel's random numbers cost a call. */
	if (now_ns * 0x9E3779B97F4A7C15ULL >> 40 & mask) {
		thread->weight = 0;
		thread->without_stack++;
		return;
	}
	thread->weight = mask + 1;
	thread->rare_waits += mask < thread->sample_mask;
}

#endif
