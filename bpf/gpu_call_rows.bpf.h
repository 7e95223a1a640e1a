/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of calls of GPU libraries, and what calls add to their rows. One file includes it. */
#ifndef PKBPF_GPU_CALL_ROWS_BPF_H
#define PKBPF_GPU_CALL_ROWS_BPF_H

#include "scratch_user.bpf.h"
#include "shared.bpf.h"

#include <pkbpf/gpu_call.h>
#include <pkbpf/span.h>

struct pkbpf_gpu_control gpu_control = {};
/* Names that user space has to read, and that were kept; approximate. */
__u32 gpu_unread_names = 0;
__u32 gpu_kept_names = 0;

#define GPU_TABLE(name_, type_, entries_, key_, value_)                                            \
	struct {                                                                                   \
		__uint(type, type_);                                                               \
		__uint(max_entries, entries_);                                                     \
		__type(key, key_);                                                                 \
		__type(value, value_);                                                             \
	} name_ SEC(".maps")

GPU_TABLE(gpu_sites, BPF_MAP_TYPE_ARRAY, PKBPF_GPU_SITES, __u32, struct pkbpf_span_site);
GPU_TABLE(gpu_threads, BPF_MAP_TYPE_HASH, PKBPF_GPU_THREADS, __u32, struct pkbpf_gpu_thread);
GPU_TABLE(gpu_blocks, BPF_MAP_TYPE_HASH, PKBPF_GPU_BLOCKS, struct pkbpf_gpu_block_key,
	  struct pkbpf_gpu_block);
/* Processes that have blocks; user space looks at it. */
GPU_TABLE(gpu_resets, BPF_MAP_TYPE_HASH, PKBPF_GPU_RESETS, __u32, struct pkbpf_gpu_reset);
GPU_TABLE(gpu_kernels, BPF_MAP_TYPE_HASH, PKBPF_GPU_KERNELS, struct pkbpf_gpu_kernel_key,
	  struct pkbpf_gpu_kernel);
GPU_TABLE(gpu_rows, BPF_MAP_TYPE_HASH, PKBPF_GPU_ROWS, struct pkbpf_gpu_row_key,
	  struct pkbpf_gpu_row);
/* Of what found no room there, by process and function. */
GPU_TABLE(gpu_other_rows, BPF_MAP_TYPE_HASH, PKBPF_GPU_OTHER_ROWS, struct pkbpf_gpu_row_key,
	  struct pkbpf_gpu_row);
/* Old ones make room: what a report does not come back to is of no use. */
GPU_TABLE(gpu_launches, BPF_MAP_TYPE_LRU_HASH, PKBPF_GPU_LAUNCHES_OPEN, struct pkbpf_gpu_launch_key,
	  struct pkbpf_gpu_launch);
GPU_TABLE(gpu_reports, BPF_MAP_TYPE_ARRAY, PKBPF_GPU_REPORTS, __u32, struct pkbpf_gpu_report);
/* Of SCRATCH_GPU. */
GPU_TABLE(gpu_users, BPF_MAP_TYPE_PERCPU_ARRAY, 1, __u32, __u32);

/* What a call adds to its rows. */
struct gpu_sums {
	__u64 ns, bytes, blocks, freed_bytes, run_ns;
	__u32 count, unmeasured, freed, runs;
	__u32 weight; /* calls for which each stands */
};

static __always_inline struct pkbpf_gpu_row *row_in(void *table,
						    const struct pkbpf_gpu_row_key *key)
{
	struct pkbpf_gpu_row *known = bpf_map_lookup_elem(table, key), first = {};

	if (known)
		return known;
	bpf_get_current_comm(first.comm, sizeof(first.comm));
	bpf_map_update_elem(table, key, &first, BPF_NOEXIST);
	return bpf_map_lookup_elem(table, key);
}

/* A function of its own: its stack is not above that of unwinding. Before 6.12 all functions on the
 * way down have 512 bytes. */
static __noinline int row_add(struct pkbpf_gpu_row_key *key, const struct gpu_sums *sums)
{
	bool is_sampled = key->what == PKBPF_GPU_STACK || key->what == PKBPF_GPU_STREAM;
	__u64 weight = is_sampled ? sums->weight : 1;
	struct pkbpf_gpu_row *row;

	key->epoch = gpu_control.epoch;
	row = row_in(&gpu_rows, key);
	if (!row && is_sampled) {
		counter_add(PKBPF_COUNTER_GPU_STACKS_FULL, sums->count * weight);
		return 0;
	}
	if (!row) {
		key->detail = PKBPF_GPU_OTHERS;
		row = row_in(&gpu_other_rows, key);
	}
	if (!row) {
		counter_add(PKBPF_COUNTER_GPU_CALLS_LOST, sums->count);
		return 0;
	}
	if (sums->count)
		__sync_fetch_and_add(&row->count, sums->count * weight);
	if (sums->count && is_sampled)
		__sync_fetch_and_add(&row->samples, 1);
	if (sums->unmeasured)
		__sync_fetch_and_add(&row->unmeasured, sums->unmeasured * weight);
	if (sums->bytes)
		__sync_fetch_and_add(&row->bytes, sums->bytes * weight);
	if (sums->blocks)
		__sync_fetch_and_add(&row->blocks, sums->blocks * weight);
	if (sums->freed) {
		__sync_fetch_and_add(&row->freed, sums->freed * weight);
		__sync_fetch_and_add(&row->freed_bytes, sums->freed_bytes * weight);
	}
	if (sums->runs) {
		__sync_fetch_and_add(&row->runs, sums->runs * weight);
		__sync_fetch_and_add(&row->run_ns, sums->run_ns * weight);
		if (sums->run_ns > row->run_max_ns)
			row->run_max_ns = sums->run_ns;
	}
	if (sums->ns) {
		__sync_fetch_and_add(&row->ns, sums->ns * weight);
		if (sums->ns > row->max_ns)
			row->max_ns = sums->ns;
	}
	return 0;
}

/* Adds to the row of all calls, and to that of the stack, if it was read. */
static __always_inline void count_call(__u32 pid, const struct pkbpf_gpu_thread *call,
				       struct gpu_sums *sums)
{
	struct pkbpf_gpu_row_key key = {
		.detail = call->detail, .pid = pid, .pair = call->pair, .what = PKBPF_GPU_SUM};

	sums->weight = call->weight;
	row_add(&key, sums);
	if (!call->weight)
		return;
	key.detail = call->detail;
	key.stack_id = call->stack_id;
	key.what = PKBPF_GPU_STACK;
	row_add(&key, sums);
	if (PKBPF_GPU_GROUP_OF(call->pair) != PKBPF_GPU_LAUNCH || !sums->count)
		return;
	key.detail = call->detail;
	key.stack_id = call->stream;
	key.what = PKBPF_GPU_STREAM;
	row_add(&key, sums);
}

static __noinline int count_error(__u32 pid, __u32 pair, __u32 code)
{
	struct pkbpf_gpu_row_key key = {
		.detail = code, .pid = pid, .pair = pair, .what = PKBPF_GPU_ERROR};
	struct gpu_sums sums = {.count = 1};

	row_add(&key, &sums);
	return 0;
}

#endif
