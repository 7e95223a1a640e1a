/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a wait is called and where it is added when it is over. */
#ifndef PKBPF_OFFCPU_WAIT_BPF_H
#define PKBPF_OFFCPU_WAIT_BPF_H

#include "offcpu.bpf.h"

#define TASK_INTERRUPTIBLE   0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED_TRACED  (0x0004 | 0x0008)
#define EXIT_DEAD_ZOMBIE     (0x0010 | 0x0020)
#define TASK_DEAD	     0x0080
#define TASK_NOLOAD	     0x0400

static __always_inline __u32 wait_state_of(struct task_struct *task, __u32 state)
{
	if (state & TASK_STOPPED_TRACED)
		return PKBPF_WAIT_STOPPED;
	if (state & TASK_INTERRUPTIBLE)
		return PKBPF_WAIT_SLEEP;
	if (!(state & TASK_UNINTERRUPTIBLE))
		return PKBPF_WAIT_STOPPED; /* parked */
	if (state & TASK_NOLOAD)
		return PKBPF_WAIT_SLEEP; /* idle kernel threads */
	return BPF_CORE_READ_BITFIELD(task, in_iowait) ? PKBPF_WAIT_DISK : PKBPF_WAIT_UNINTERRUPTIBLE;
}

/*
 * Splits the wait of the thread in a slot, which ended when the thread came onto the CPU: the kernel has meanwhile added
 * what of it was run-queue time to the thread's run_delay (it does so right after the tracepoint, which is why this
 * comes one switch later). That spares a program at every wake-up. A global function; always 0.
 */
int wait_finish(__u32 slot, __u64 run_delay_ns);

#endif
