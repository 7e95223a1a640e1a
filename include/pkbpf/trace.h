/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records of single events, which only --trace wants. Numbers 112 to 119 are of this file. */
#ifndef PKBPF_TRACE_H
#define PKBPF_TRACE_H

#include <pkbpf/event.h>

enum pkbpf_trace_event {
	PKBPF_EVENT_WAIT = 112, /* struct pkbpf_event_wait */
};

/* How a wait ended. Part of the recording format. */
enum pkbpf_wake {
	PKBPF_WAKE_UNKNOWN = 0, /* no wake-up was seen */
	PKBPF_WAKE_THREAD = 1,	/* a thread woke it */
	/* a timer, a device or the network, while a thread ran; or a page fault of that thread */
	PKBPF_WAKE_INTERRUPT = 2,
	PKBPF_WAKES = 3,
};

/* What a thread's wait depends on: kept in the kernel from its begin to its end. */
struct pkbpf_wait_cause {
	__u32 waker; /* tid of the thread that ran when it was woken; 0: none, or an idle CPU */
	__u32 wake;  /* enum pkbpf_wake */
	__u32 owner; /* tid that held the lock when the wait began; 0: unknown */
	__u32 reserved;
	__u64 place; /* in the kernel only */
};

/*
 * One finished wait. It is sent when its parts are known: at the thread's next context switch. The
 * totals count it as well.
 *
 * In state PKBPF_WAIT_NONE it is no wait but the account of a thread that has ended, or of one at
 * the end of the interval: begin_ns is its begin, wait_ns its length.
 */
struct pkbpf_event_wait {
	struct pkbpf_event_header header;
	__u64 stack_id; /* of an earlier PKBPF_EVENT_STACK; 0: no stack */
	__u64 begin_ns; /* CLOCK_MONOTONIC */
	__u64 wait_ns;
	__u64 queue_ns; /* in the run queue, after the wait */
	/* CPU time of the thread from the begin of its account to the begin of the wait. Hence two
	 * waits in succession tell how much of the time between was spent on a CPU. */
	__u64 ran_ns;
	__u32 pid, tid;
	struct pkbpf_wait_cause cause;
	__u8 state; /* enum pkbpf_wait_state; RUNQUEUE: all of it */
	__u8 reserved[7];
	char comm[PKBPF_COMM_SIZE];
};

_Static_assert(sizeof(struct pkbpf_event_wait) == 16 + 40 + 8 + 24 + 8 + 16, "wire size");

#endif
