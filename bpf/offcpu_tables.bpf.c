// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds or makes the accounts of threads and the rows of waits. */
#include "offcpu.bpf.h"
#include "slot.bpf.h"

/* first array elements never used */
static __u32 next_row, next_histogram;

__attribute__((noinline)) __u32 thread_slot(__u32 tid)
{
	for (__u32 i = 0; i < PKBPF_THREAD_PROBES; i++) {
		__u32 key = pkbpf_thread_slot(tid, i, offcpu_config.thread_mask);
		struct pkbpf_thread *thread = bpf_map_lookup_elem(&offcpu_threads, &key);

		if (!thread || thread->tid == 0)
			return PKBPF_NO_ROW;
		if (thread->tid == tid && thread->place != PKBPF_THREAD_ENDED)
			return key;
	}
	return PKBPF_NO_ROW;
}

/* Returns the number of the histogram of a process's waits in a state; creates it if it is the
 * first. PKBPF_NO_ROW: no room. */
static __always_inline __u32 histogram_get(__u32 pid, __u32 state)
{
	struct pkbpf_wait_histogram_key key = {.pid = pid, .state = state};
	__u32 *known = bpf_map_lookup_elem(&offcpu_histogram_index, &key), index = 0;
	struct pkbpf_wait_histogram *histogram;

	if (known)
		return *known;
	if (!slot_take(&offcpu_histograms, offsetof(struct pkbpf_wait_histogram, claims),
		       &next_histogram, &offcpu_free_histograms, &index)) {
		counter_add(PKBPF_COUNTER_HISTOGRAM_TABLE_FULL, 1);
		return PKBPF_NO_ROW;
	}
	histogram = bpf_map_lookup_elem(&offcpu_histograms, &index);
	if (!histogram)
		return PKBPF_NO_ROW;
	if (bpf_map_update_elem(&offcpu_histogram_index, &key, &index, BPF_NOEXIST)) {
		/* Another CPU was faster. */
		bpf_map_push_elem(&offcpu_free_histograms, &index, 0);
		known = bpf_map_lookup_elem(&offcpu_histogram_index, &key);
		return known ? *known : PKBPF_NO_ROW;
	}
	histogram->state = state;
	histogram->pid = pid;
	return index;
}

/* Returns the number of the row of a key; creates it if it is the first. PKBPF_NO_ROW: no room. */
__attribute__((noinline)) __u32 row_number(__u32 slot, __u64 stack_id, __u64 waker_id, __u32 state,
					   __u32 flags)
{
	struct pkbpf_thread *thread = thread_at(slot);
	struct pkbpf_wait_row_key key = {
		.stack_id = stack_id,
		.state = (__u16)state,
		.open = flags & PKBPF_THREAD_OPEN,
	};
	struct pkbpf_wait_row *row;
	__u32 *known, index = 0;

	if (!thread)
		return PKBPF_NO_ROW;
	key.waker_id = pkbpf_wait_row_cause(waker_id, thread->peer);
	key.comm = (__u32)pkbpf_comm_hash(((__u64 *)thread->comm)[0], ((__u64 *)thread->comm)[1]);
	key.pid = thread->pid;
	key.tid = offcpu_config.per_thread ? thread->tid : 0;
	known = bpf_map_lookup_elem(&offcpu_row_index, &key);
	if (known)
		return *known;
	if (!slot_take(&offcpu_rows, offsetof(struct pkbpf_wait_row, claims), &next_row,
		       &offcpu_free_rows, &index)) {
		counter_add(PKBPF_COUNTER_ROW_TABLE_FULL, 1);
		return PKBPF_NO_ROW;
	}
	row = bpf_map_lookup_elem(&offcpu_rows, &index);
	if (!row)
		return PKBPF_NO_ROW;
	if (bpf_map_update_elem(&offcpu_row_index, &key, &index, BPF_NOEXIST)) {
		bpf_map_push_elem(&offcpu_free_rows, &index, 0);
		known = bpf_map_lookup_elem(&offcpu_row_index, &key);
		return known ? *known : PKBPF_NO_ROW;
	}
	row->stack_id = stack_id;
	row->waker_id = waker_id;
	row->peer = thread->peer;
	row->tid = key.tid;
	row->state = state;
	row->flags = (flags & PKBPF_THREAD_OPEN ? PKBPF_TOTALS_OPEN : 0) |
		     (flags & PKBPF_THREAD_VISITED ? PKBPF_ROW_SINGLE : 0);
	row->cgroup_id = thread->cgroup_id;
	row->histogram = histogram_get(thread->pid, state);
	row->queue_histogram = state == PKBPF_WAIT_RUNQUEUE
				       ? row->histogram
				       : histogram_get(thread->pid, PKBPF_WAIT_RUNQUEUE);
	__builtin_memcpy(row->comm, thread->comm, sizeof(row->comm));
	row->pid = thread->pid; /* last: user space reads only rows with a pid */
	return index;
}
