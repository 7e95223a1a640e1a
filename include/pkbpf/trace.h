/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records of single events, which only --trace wants. Numbers 112 to 119 are of this file. */
#ifndef PKBPF_TRACE_H
#define PKBPF_TRACE_H

#include <pkbpf/event.h>

enum pkbpf_trace_event {
	PKBPF_EVENT_WAIT = 112, /* struct pkbpf_event_wait */
};

/* One finished wait. It is sent when its parts are known: at the thread's next context switch. The
 * totals count it as well. */
struct pkbpf_event_wait {
	struct pkbpf_event_header header;
	__u64 stack_id; /* of an earlier PKBPF_EVENT_STACK; 0: no stack */
	__u64 begin_ns; /* CLOCK_MONOTONIC */
	__u64 wait_ns;
	__u64 queue_ns; /* in the run queue, after the wait */
	__u32 pid, tid;
	__u8 state; /* enum pkbpf_wait_state; RUNQUEUE: all of it */
	__u8 reserved[7];
	char comm[PKBPF_COMM_SIZE];
};

_Static_assert(sizeof(struct pkbpf_event_wait) == 16 + 32 + 16 + 16, "wire size");

#endif
