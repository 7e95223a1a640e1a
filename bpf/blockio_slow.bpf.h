/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends a record of a slow block request. Included by one file. */
#ifndef PKBPF_BLOCKIO_SLOW_BPF_H
#define PKBPF_BLOCKIO_SLOW_BPF_H

#include "block_compat.bpf.h"
#include "blockio.bpf.h"

/* A ring of its own, so that a slow disk takes no room from samples. Its size bounds the number of
 * requests that wait for the reader. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16); /* set by the source */
} slow_io_ring SEC(".maps");

static __always_inline __u16 slow_io_flags(__u32 opf, __u32 failed)
{
	return (failed ? PKBPF_SLOW_IO_FAILED : 0) |
	       (opf & REQUEST_FLAG(FUA) ? PKBPF_SLOW_IO_FUA : 0) |
	       (opf & REQUEST_FLAG(META) ? PKBPF_SLOW_IO_METADATA : 0);
}

/* Sends a complete request that was counted in its row. `last_bytes` of it were completed just
 * now. */
static __always_inline void slow_io_send(struct request *rq,
					 const struct pkbpf_blockio_request *request,
					 __u64 issue_ns, __u64 device_ns, __u32 last_bytes,
					 __u32 failed)
{
	__u32 index = request->row, before = request->bytes - (failed ? 0 : last_bytes);
	struct pkbpf_blockio_row *row = bpf_map_lookup_elem(&blockio_rows, &index);
	struct pkbpf_event_slow_io *record;
	__u64 sector = rq->__sector;

	/* The latency of a lower device's request is already part of the upper device's request. */
	if (!row || row->key.lower)
		return;
	record = bpf_ringbuf_reserve(&slow_io_ring, sizeof(*record), 0);
	if (!record) {
		counter_add(PKBPF_COUNTER_SLOW_IO_LOST, 1);
		return;
	}
	__builtin_memset(record, 0, sizeof(*record));
	record->header.size = sizeof(*record);
	record->header.kind = PKBPF_EVENT_SLOW_IO;
	record->header.flags = slow_io_flags(rq->cmd_flags, failed);
	record->header.time_ns = issue_ns + device_ns;
	record->stack_id = row->key.stack_id;
	record->cgroup_id = row->cgroup_id;
	record->insert_ns = issue_ns - request->queue_ns;
	record->issue_ns = issue_ns;
	/* The kernel advances the sector with each completed part. */
	record->sector = sector == PKBPF_NO_SECTOR ? sector : sector - (before >> 9);
	record->pid = row->key.pid;
	record->tid = request->tid;
	record->device = row->key.device;
	record->bytes = failed ? before + last_bytes : request->bytes;
	record->state = row->key.state;
	__builtin_memcpy(record->comm, row->comm, sizeof(record->comm));
	bpf_ringbuf_submit(record, ring_wakeup(&slow_io_ring, blockio_config.slow_wakeup_bytes));
}

#endif
