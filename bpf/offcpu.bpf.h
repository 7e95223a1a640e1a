/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of the off-CPU programs: threads, waits per stack and wait times, with their lookups. */
#ifndef PKBPF_OFFCPU_BPF_H
#define PKBPF_OFFCPU_BPF_H

#include "shared.bpf.h"

#include <pkbpf/offcpu.h>
#include <pkbpf/trace.h>

/* The source sets all sizes before the object is loaded. */

struct offcpu_threads_map { /* open addressing by tid */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_thread);
};

struct offcpu_rows_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_wait_row);
};

struct offcpu_row_index_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_wait_row_key);
	__type(value, __u32);
};

struct offcpu_histograms_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_wait_histogram);
};

struct offcpu_histogram_index_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_wait_histogram_key);
	__type(value, __u32);
};

struct offcpu_free_map { /* numbers of array elements that user space has freed */
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, __u32);
};

struct offcpu_last_switch_map { /* time of this CPU's last switch in the interval; 0: none yet */
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
};

struct offcpu_causes_map { /* with a trace, as many as threads */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_wait_cause);
};

extern struct offcpu_causes_map offcpu_causes SEC(".maps");
extern struct offcpu_threads_map offcpu_threads SEC(".maps");
extern struct offcpu_rows_map offcpu_rows SEC(".maps");
extern struct offcpu_row_index_map offcpu_row_index SEC(".maps");
extern struct offcpu_free_map offcpu_free_rows SEC(".maps");
extern struct offcpu_histograms_map offcpu_histograms SEC(".maps");
extern struct offcpu_histogram_index_map offcpu_histogram_index SEC(".maps");
extern struct offcpu_free_map offcpu_free_histograms SEC(".maps");
extern struct offcpu_last_switch_map offcpu_last_switch SEC(".maps");

extern const volatile struct pkbpf_offcpu_config offcpu_config;
extern struct pkbpf_offcpu_control offcpu_control;

/*
 * Global functions: the verifier follows each once, not for every path that leads to it.
 * thread_slot() returns the slot of a thread's account; PKBPF_NO_ROW: unknown. row_number() returns
 * the row for a wait of the thread in a slot, with its PKBPF_THREAD_* flags; it creates the row if
 * it is the first. PKBPF_NO_ROW: no room.
 */
__u32 thread_slot(__u32 tid);
__u32 row_number(__u32 slot, __u64 stack_id, __u64 waker_id, __u32 state, __u32 flags);

static __always_inline struct pkbpf_thread *thread_at(__u32 slot)
{
	return bpf_map_lookup_elem(&offcpu_threads, &slot);
}

/* NULL: unknown. */
static __always_inline struct pkbpf_thread *thread_find(__u32 tid, __u32 *slot)
{
	struct pkbpf_thread *thread;

	/* The first slot is nearly always right. It is checked here, because a call costs more than
	 * the search. */
	*slot = pkbpf_thread_slot(tid, 0, offcpu_config.thread_mask);
	thread = thread_at(*slot);
	if (thread && thread->tid == tid && thread->place != PKBPF_THREAD_ENDED)
		return thread;
	*slot = thread_slot(tid);
	return thread_at(*slot);
}

/*
 * Makes a slot for a thread that has none. Only the CPU that switches the thread does this, or the
 * iterator before the thread's first switch of the interval. Two threads that want one slot within
 * nanoseconds may both take it. The account then belongs to the last writer, and contains the other
 * thread's time until its next switch, when that thread gets another slot. Kernels before 5.12 have
 * no atomic exchange, and a claim by addition could leave a slot that ends searches.
 */
static __always_inline struct pkbpf_thread *thread_create(struct task_struct *task, __u64 now_ns,
							  __u32 *slot)
{
	__u32 tid = BPF_CORE_READ(task, pid);

	for (__u32 i = 0; i < PKBPF_THREAD_PROBES; i++) {
		__u32 key = pkbpf_thread_slot(tid, i, offcpu_config.thread_mask);
		struct pkbpf_thread *thread = bpf_map_lookup_elem(&offcpu_threads, &key);

		if (!thread)
			return NULL;
		/* The iterator and a switch reached the thread at the same time. */
		if (thread->tid == tid && thread->place != PKBPF_THREAD_ENDED)
			return NULL;
		if (thread->tid != 0 && thread->tid != PKBPF_THREAD_TOMBSTONE)
			continue;
		*(volatile __u32 *)&thread->tid = tid;
		if (*(volatile __u32 *)&thread->tid != tid)
			continue;
		thread->pid = BPF_CORE_READ(task, tgid);
		thread->born_ns = BPF_CORE_READ(task, start_time);
		thread->row = PKBPF_NO_ROW;
		thread->first_ns = now_ns;
		thread->since_ns = now_ns;
		/* Base of end_stay() if the next switch is not seen: 0 would count all earlier
		 * CPU time. */
		thread->ran_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
		BPF_CORE_READ_INTO(&thread->comm, task, comm);
		*slot = key;
		return thread;
	}
	counter_add(PKBPF_COUNTER_THREAD_TABLE_FULL, 1);
	if (!offcpu_control.had_no_room)
		offcpu_control.had_no_room = 1;
	return NULL;
}

/* Forgets what the last wait of a thread depended on, at the begin of the next. */
static __always_inline void cause_begin(__u32 slot)
{
	struct pkbpf_wait_cause *cause = bpf_map_lookup_elem(&offcpu_causes, &slot);

	if (cause)
		__builtin_memset(cause, 0, sizeof(*cause));
}

static __always_inline void histogram_count(__u32 index, __u64 value_ns, __u32 times)
{
	struct pkbpf_wait_histogram *histogram = bpf_map_lookup_elem(&offcpu_histograms, &index);
	__u32 bucket = pkbpf_histogram_index(value_ns);

	if (!histogram || bucket >= PKBPF_HISTOGRAM_BUCKETS)
		return;
	__sync_fetch_and_add(&histogram->buckets[bucket], times);
	/* Two CPUs may write at once; one value is then missing from max, and only there. */
	if (value_ns > histogram->max_ns)
		histogram->max_ns = value_ns;
}

#endif
