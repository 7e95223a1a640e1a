/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chooses which waits of busy threads get a stack, to stay within --max-overhead. Included by one
 * program, because its map is here. */
#ifndef PKBPF_OFFCPU_CHOICE_BPF_H
#define PKBPF_OFFCPU_CHOICE_BPF_H

#include "offcpu.bpf.h"

/* Each place may have 1/SITE_PART of a thread's quota. */
#define SITE_PART 2
/* Places where busy threads wait, by hash; places that share a slot count as one. */
#define SITE_BITS 14

struct wait_site {
	__u32 window;	     /* current window */
	__u16 waits, before; /* waits in the current and the previous window */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << SITE_BITS);
	__type(key, __u32);
	__type(value, struct wait_site);
} offcpu_sites SEC(".maps");

/* Sampling mask for the next window: one wait in mask + 1 gets a stack. */
static __always_inline __u32 sample_mask_of(__u32 waits, __u32 quota)
{
	__u32 mask = waits / quota;

	/* Rounds up to a power of two minus one. */
	mask |= mask >> 1;
	mask |= mask >> 2;
	mask |= mask >> 4;
	return mask < PKBPF_OFFCPU_MAX_MASK ? mask : PKBPF_OFFCPU_MAX_MASK;
}

/* Finds the place where the current task waits, approximately, without its stack: system call, ip
 * and sp. The depth of the kernel stack would add precision, but many kernels randomize it. */
static __always_inline struct wait_site *wait_site_of(struct task_struct *task,
						      const struct pkbpf_thread *thread)
{
	__u64 hash = (__u64)thread->tid << 3 | thread->state;
	struct pt_regs *regs;
	__u32 index;

	/* Preemption may happen anywhere. */
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

/* Places where a thread rarely waits get a higher sampling rate, up to a quota of such waits. */
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
 * Chooses whether a new wait gets a stack. All waits of threads that rarely wait get one. Other
 * threads get as many as the quota allows, from the number of their waits in the previous window,
 * and the same number again for places where they rarely wait. The choice does not depend on the
 * length of the wait, so that the times of chosen waits, multiplied by their weight, are right on
 * average. A long wait among thousands of short ones is not left to chance.
 *
 * thread->weight 0: no stack.
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
	/* The hashed clock is unpredictable; the kernel's random numbers cost a call. */
	if (now_ns * 0x9E3779B97F4A7C15ULL >> 40 & mask) {
		thread->weight = 0;
		thread->without_stack++;
		return;
	}
	thread->weight = mask + 1;
	thread->rare_waits += mask < thread->sample_mask;
}

#endif
