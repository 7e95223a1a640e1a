/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests by what thread contexts say: for programs that see a thread. */
#ifndef PKBPF_CONTEXT_REQUEST_BPF_H
#define PKBPF_CONTEXT_REQUEST_BPF_H

#include "offcpu.bpf.h"

#include <pkbpf/context.h>

enum context_moment {
	CONTEXT_AT_SAMPLE,
	CONTEXT_AT_SWITCH, /* the thread leaves its CPU, and its account is not changed yet */
	CONTEXT_AT_EXIT,   /* for the last time: its memory is gone */
};

/* Looks at the context of the current thread, which has its account in a slot. A global function
 * (context_request.bpf.c); always returns 0. */
int context_look(__u32 slot, __u64 now_ns, __u32 moment);

/* Adds the wait that ends to the request that is open; queue_ns: of the wait, in the run queue. */
int context_note_wait(__u32 slot, __u64 queue_ns);

/* The interval has ended, and the thread's account is complete: its request is still open. stay_ns:
 * begin of its stay on a CPU, or the end of the interval. */
int context_end(__u32 slot, __u64 stay_ns);

/* The thread ceases to be a target, or has another program. */
int context_forget(__u32 slot);

/* The same as context_look() of the thread with this number, at a CPU sample. */
int context_look_at_sample(__u32 tid, __u64 now_ns);

#endif
