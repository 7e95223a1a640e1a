/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of the block I/O programs: requests in flight, sums per stack, latency histograms; and the
 * functions that find and update rows. */
#ifndef PKBPF_BLOCKIO_BPF_H
#define PKBPF_BLOCKIO_BPF_H

#include "shared.bpf.h"
#include "slot.bpf.h"

#include <pkbpf/blockio.h>

/* The source sets all sizes except those of the LRU maps before the object is loaded. */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct pkbpf_blockio_request);
} blockio_requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_blockio_row);
} blockio_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_blockio_row_key);
	__type(value, __u32);
} blockio_row_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_blockio_histogram);
} blockio_histograms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_blockio_histogram_key);
	__type(value, __u32);
} blockio_histogram_index SEC(".maps");

struct blockio_free_map { /* numbers of array elements that user space has freed */
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, __u32);
};
struct blockio_free_map blockio_free_rows SEC(".maps");
struct blockio_free_map blockio_free_histograms SEC(".maps");

/* The submitter of a request. */
struct submission {
	__u32 row; /* PKBPF_BLOCKIO_NO_ROW: no target */
	__u32 tid;
};

/* Requests with a flush before or after them are issued by a worker. This map keeps their submitter
 * by bio until then. The flush itself is a request of the device, shared by all submitters that
 * need one at that time. It is counted for the last of them. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct submission);
} blockio_flush_data SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct submission);
} blockio_flushers SEC(".maps");

const volatile struct pkbpf_blockio_config blockio_config = {};
struct pkbpf_blockio_control blockio_control = {};
__u32 blockio_next_row = 0, blockio_next_histogram = 0; /* never used up to here */

static __always_inline __u32 histogram_of(const struct pkbpf_blockio_row_key *row)
{
	struct pkbpf_blockio_histogram_key key = {
		.pid = row->pid,
		.tid = row->tid,
		.device = row->device,
		.state = row->state,
		.lower = row->lower,
	};
	__u32 *known = bpf_map_lookup_elem(&blockio_histogram_index, &key), index = 0;

	if (known)
		return *known;
	if (!slot_take(&blockio_histograms, offsetof(struct pkbpf_blockio_histogram, claims),
		       &blockio_next_histogram, &blockio_free_histograms, &index)) {
		counter_add(PKBPF_COUNTER_HISTOGRAM_TABLE_FULL, 1);
		return PKBPF_BLOCKIO_NO_ROW;
	}
	if (bpf_map_update_elem(&blockio_histogram_index, &key, &index, BPF_NOEXIST)) {
		/* Another CPU was faster. */
		bpf_map_push_elem(&blockio_free_histograms, &index, 0);
		known = bpf_map_lookup_elem(&blockio_histogram_index, &key);
		return known ? *known : PKBPF_BLOCKIO_NO_ROW;
	}
	return index;
}

/* Returns the number of the row of a key; creates the row if it is the first. PKBPF_BLOCKIO_NO_ROW:
 * no room. */
static __always_inline __u32 row_of(const struct pkbpf_blockio_row_key *key, __u64 cgroup_id,
				    const char *comm)
{
	__u32 *known = bpf_map_lookup_elem(&blockio_row_index, key), index = 0;
	struct pkbpf_blockio_row *row;

	if (known)
		return *known;
	if (!slot_take(&blockio_rows, offsetof(struct pkbpf_blockio_row, claims), &blockio_next_row,
		       &blockio_free_rows, &index))
		return PKBPF_BLOCKIO_NO_ROW;
	row = bpf_map_lookup_elem(&blockio_rows, &index);
	if (!row)
		return PKBPF_BLOCKIO_NO_ROW;
	row->key = *key;
	row->cgroup_id = cgroup_id;
	__builtin_memcpy(row->comm, comm, sizeof(row->comm));
	row->histogram = histogram_of(key);
	if (bpf_map_update_elem(&blockio_row_index, key, &index, BPF_NOEXIST)) {
		bpf_map_push_elem(&blockio_free_rows, &index, 0);
		known = bpf_map_lookup_elem(&blockio_row_index, key);
		return known ? *known : PKBPF_BLOCKIO_NO_ROW;
	}
	row->ready = 1;
	return index;
}

/* Adds a finished request without a completion event: its latency is unknown. */
static __always_inline void row_add_untimed(__u32 index, __u64 bytes)
{
	struct pkbpf_blockio_row *row = bpf_map_lookup_elem(&blockio_rows, &index);

	if (!row)
		return;
	__sync_fetch_and_add(&row->count, 1);
	__sync_fetch_and_add(&row->bytes, bytes);
}

/* Adds a finished request. If two CPUs raise a maximum at once, one value is missing from the
 * maximum, and only there. */
static __always_inline void row_add(__u32 index, __u64 bytes, __u64 device_ns, __u64 queue_ns)
{
	struct pkbpf_blockio_row *row = bpf_map_lookup_elem(&blockio_rows, &index);
	struct pkbpf_blockio_histogram *histogram;
	__u32 number, bucket;

	if (!row) {
		counter_add(PKBPF_COUNTER_BLOCKIO_LOST, 1);
		return;
	}
	number = row->histogram;
	__sync_fetch_and_add(&row->count, 1);
	__sync_fetch_and_add(&row->bytes, bytes);
	__sync_fetch_and_add(&row->total_ns, device_ns);
	if (device_ns > row->max_ns)
		row->max_ns = device_ns;
	if (queue_ns) {
		__sync_fetch_and_add(&row->queue_ns, queue_ns);
		if (queue_ns > row->queue_max_ns)
			row->queue_max_ns = queue_ns;
	}
	histogram = bpf_map_lookup_elem(&blockio_histograms, &number);
	if (!histogram)
		return;
	bucket = pkbpf_histogram_index(device_ns);
	if (bucket < PKBPF_HISTOGRAM_BUCKETS)
		__sync_fetch_and_add(&histogram->device_time[bucket], 1);
	bucket = pkbpf_histogram_index(queue_ns);
	if (bucket < PKBPF_HISTOGRAM_BUCKETS)
		__sync_fetch_and_add(&histogram->queue_time[bucket], 1);
}

#endif
