/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of thread contexts, and the memory that a reading needs. */
#ifndef PKBPF_CONTEXT_BPF_H
#define PKBPF_CONTEXT_BPF_H

#include "shared.bpf.h"

#include <pkbpf/context.h>

/* Readings that may be nested on one CPU: of a sample within one of a switch or a fault. */
#define CONTEXT_READINGS 4

struct context_processes_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PKBPF_CONTEXT_PROCESSES); /* preallocated, for samples on 5.10 */
	__type(key, __u32);			      /* pid */
	__type(value, struct pkbpf_context_process);
};

struct context_sets_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PKBPF_CONTEXT_SETS);
	__type(key, __u32);
	__type(value, struct pkbpf_context_set);
};

struct context_set_index_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PKBPF_CONTEXT_SETS);
	__type(key, struct pkbpf_context_set_key);
	__type(value, __u32);
};

struct context_threads_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32); /* slot of the thread's account */
	__type(value, struct pkbpf_context_thread);
};

struct context_reading {
	__u32 is_used;
	__u32 pid;
	__u64 pointer;
	__u64 address; /* of the next attribute */
	__u32 left;    /* bytes from there on */
	__u32 reserved;
	struct pkbpf_context_record record;
	struct pkbpf_context_set_key key;
	char labels[PKBPF_CONTEXT_LABELS][PKBPF_CONTEXT_VALUE];
	struct pkbpf_event_region_name name;
	struct pkbpf_event_request request;
	__u64 waited_ns[PKBPF_WAIT_STATES];
};

struct context_readings_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CONTEXT_READINGS);
	__type(key, __u32);
	__type(value, struct context_reading);
};

extern struct context_processes_map context_processes SEC(".maps");
extern struct context_sets_map context_sets SEC(".maps");
extern struct context_set_index_map context_set_index SEC(".maps");
extern struct context_threads_map context_threads SEC(".maps");
extern struct context_readings_map context_readings SEC(".maps");

/* Maps are not there otherwise, and the verifier follows global functions without callers. */
static __always_inline bool contexts_are_wanted(void)
{
	return context_config.by_label || context_config.requests;
}

static __always_inline struct context_reading *context_reading_at(__u32 at)
{
	return bpf_map_lookup_elem(&context_readings, &at);
}

/* Memory of this CPU for one reading; CONTEXT_READINGS: all is in use. */
static __always_inline __u32 context_enter(void)
{
	for (__u32 i = 0; i < CONTEXT_READINGS; i++) {
		struct context_reading *reading = context_reading_at(i);

		if (reading && !reading->is_used) {
			reading->is_used = 1;
			return i;
		}
	}
	counter_add(PKBPF_COUNTER_CONTEXT_NO_SCRATCH, 1);
	return CONTEXT_READINGS;
}

static __always_inline void context_leave(__u32 at)
{
	struct context_reading *reading = context_reading_at(at);

	if (reading)
		reading->is_used = 0;
}

/*
 * Global functions, which the verifier follows once. context_find() reads the head of the current
 * thread's record into a reading: 1; 0: the thread has no context; -1: that is not known at this
 * moment. context_set() reads its labels and returns 1 + number of the set of their values; 0: none
 * is known.
 */
int context_find(__u32 at);
__u32 context_set(__u32 at);

#endif
