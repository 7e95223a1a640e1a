/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Thread contexts: records of OpenTelemetry in the thread-local storage of programs, with the ids
 * of the trace and span that a thread works for, and labels. Layouts shared by the programs that
 * read them and by the source that finds them.
 */
#ifndef PKBPF_CONTEXT_H
#define PKBPF_CONTEXT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/config.h>
#include <pkbpf/event.h>
#include <pkbpf/histogram.h>
#include <pkbpf/offcpu.h>

/* Labels that are read; all others stay in their program. */
#define PKBPF_CONTEXT_LABELS 4
/* Bytes of a value with its NUL; longer values are truncated. */
#define PKBPF_CONTEXT_VALUE 64
/* Sets of values: of all processes, and of one. The others are PKBPF_CONTEXT_OTHER. */
#define PKBPF_CONTEXT_SETS	   4096
#define PKBPF_CONTEXT_PROCESS_SETS 256
#define PKBPF_CONTEXT_OTHER	   "[other]"
#define PKBPF_CONTEXT_PROCESSES	   4096
/* Attributes of a record that are looked at, and keys that a program may have. */
#define PKBPF_CONTEXT_ATTRIBUTES 16
#define PKBPF_CONTEXT_KEYS	 256
/* Places that a request waited at longest, with their stacks. */
#define PKBPF_CONTEXT_REASONS 16

/* Where the pointer to a thread's record is. */
enum pkbpf_context_form {
	PKBPF_CONTEXT_STATIC = 1,  /* thread pointer + offset */
	PKBPF_CONTEXT_DYNAMIC = 2, /* block of the module by the thread's vector + offset */
};

/* Of a process that publishes contexts. Only user space writes to it, but for `sets`. */
struct pkbpf_context_process {
	__s64 offset;
	__u64 since_ns; /* when it was found */
	__u64 entry;	/* DYNAMIC: of the module in the vector, in bytes */
	__s32 vector;	/* DYNAMIC: where its address is, from the thread pointer */
	__u32 form;	/* enum pkbpf_context_form */
	__u32 sets;	/* that the process has made */
	__u32 reserved;
	/* By index of a key: 1 + number of the label; 0: not read. */
	__u8 labels[PKBPF_CONTEXT_KEYS];
};

_Static_assert(sizeof(struct pkbpf_context_process) == 40 + 256, "map value");

/* The head of a record as OpenTelemetry defines it; attributes follow. */
struct pkbpf_context_record {
	__u64 trace[2]; /* 16 bytes in the order of the W3C; zeros: none */
	__u64 span;
	__u8 valid; /* 1; others: is being written */
	__u8 trace_flags;
	__u16 attribute_bytes;
	__u32 reserved; /* not part of it */
};

/* Bytes of the record's head. */
#define PKBPF_CONTEXT_HEAD 28

struct pkbpf_context_set_key {
	__u64 hash; /* of the values; 0: other sets */
	__u32 pid;
	__u32 reserved;
};

/* A set of values of one process, with the sums of its requests. All CPUs add to it. */
struct pkbpf_context_set {
	__u32 pid; /* 0: not complete yet */
	__u32 reserved;
	char labels[PKBPF_CONTEXT_LABELS][PKBPF_CONTEXT_VALUE];
	__u64 hash;  /* of its key */
	__u64 count; /* of requests that ended */
	__u64 open;  /* that had not ended at the end of the interval */
	__u64 total_ns, max_ns;
	__u64 edge_ns; /* of total_ns, that may lie outside of them */
	__u64 part_ns[PKBPF_WAIT_STATES];
	__u32 buckets[PKBPF_HISTOGRAM_BUCKETS];
	__u32 reserved2;
	__u32 claims; /* must be last, see slot_take() */
};

_Static_assert(sizeof(struct pkbpf_context_set) % 8 == 0, "map value");

struct pkbpf_context_reason {
	__u64 stack_id; /* 0: unknown */
	__u64 wait_ns;	/* of waits of the request at this stack, without the run queue */
};

/* A counter of the algorithm Space-Saving (Metwally, Agrawal, El Abbadi, 2005): each stack with
 * more than a 16th of the time of all is there, with at least sum_ns - others_ns. */
struct pkbpf_context_wait {
	__u64 stack_id; /* 0: free */
	__u64 sum_ns;
	__u64 others_ns; /* of sum_ns: of stacks that had the place before */
};

/* What a thread works for, in the slot of its account. Only programs that run on the thread write
 * to it. */
struct pkbpf_context_thread {
	__u64 trace[2]; /* zeros: nothing */
	__u64 span;
	__u32 tid;
	__u32 set;	 /* 1 + number; 0: none */
	__u64 looked_ns; /* when the context was last read; 0: never */
	__u64 stay_ns;	 /* when the thread came onto the CPU on which it began */
	__u64 begin_ns;	 /* 0: before it could be seen */
	__u64 edge_ns;
	__u64 waited_ns[PKBPF_WAIT_STATES]; /* at its begin */
	struct pkbpf_context_wait waits[PKBPF_CONTEXT_REASONS];
	__u32 is_busy; /* a program is at work on it; an NMI must not */
	__u32 reserved;
};

/* Records. */
enum {
	PKBPF_EVENT_REQUEST = 100, /* struct pkbpf_event_request */
};

/* Flags of such a record. */
enum {
	PKBPF_REQUEST_OPEN = 1, /* it had not ended at the end of the interval */
};

/* One request of a thread that took long. Its parts add up to its time. */
struct pkbpf_event_request {
	struct pkbpf_event_header header; /* flags: PKBPF_REQUEST_* */
	__u8 trace[16];
	__u8 span[8];
	__u64 start_ns, wall_ns;
	__u64 edge_ns; /* of wall_ns, that may lie outside of it */
	__u64 part_ns[PKBPF_WAIT_STATES];
	struct pkbpf_context_reason reasons[PKBPF_CONTEXT_REASONS];
	__u64 cgroup_id;
	__u32 pid, tid;
	char comm[PKBPF_COMM_SIZE];
	char labels[PKBPF_CONTEXT_LABELS][PKBPF_CONTEXT_VALUE];
};

_Static_assert(sizeof(struct pkbpf_event_request) == 16 + 24 + 24 + 48 + 256 + 16 + 16 + 256,
	       "wire size");

#endif
