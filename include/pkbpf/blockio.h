/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Layouts shared by the block I/O programs and their source: requests in flight, sums per stack,
 * histograms, slow requests. */
#ifndef PKBPF_BLOCKIO_H
#define PKBPF_BLOCKIO_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>
#include <pkbpf/histogram.h>
#include <pkbpf/stack_memo.h>

/* state of block I/O samples and totals: an operation and flags. Part of the recording format. */
enum pkbpf_blockio_operation {
	PKBPF_BLOCKIO_READ = 1,
	PKBPF_BLOCKIO_WRITE = 2,
	PKBPF_BLOCKIO_FLUSH = 3,   /* of the device's write cache */
	PKBPF_BLOCKIO_DISCARD = 4, /* also secure erase and write zeroes */
	PKBPF_BLOCKIO_OTHER = 5,
	PKBPF_BLOCKIO_OPERATIONS = 6,
};

#define PKBPF_BLOCKIO_OPERATION_MASK 0x07
#define PKBPF_BLOCKIO_SYNC	     0x08 /* a thread waits for the request */
#define PKBPF_BLOCKIO_AHEAD	     0x10 /* read-ahead */

/* measure of totals of kind BLOCKIO. A stacked device (loop) passes its work to another device. The
 * requests of the lower device are real there, but their data was already counted for the process
 * that submitted it. LOWER measures therefore belong to devices only, not to processes. */
enum pkbpf_blockio_measure {
	PKBPF_BLOCKIO_DEVICE_TIME = 0, /* issue to completion, ns */
	PKBPF_BLOCKIO_QUEUE_TIME = 1,  /* insertion to issue, ns; 0 when issued at once */
	PKBPF_BLOCKIO_LOWER_DEVICE_TIME = 2,
	PKBPF_BLOCKIO_LOWER_QUEUE_TIME = 3,
};

/* Pseudo-pid of write-back by a kernel worker, originator unknown: this bit plus the cgroup of the
 * pages (0: unknown). */
#define PKBPF_PID_WRITEBACK  0x80000000U
#define PKBPF_WRITEBACK_COMM "[writeback]"

enum pkbpf_blockio_event {
	PKBPF_EVENT_SLOW_IO = 32, /* struct pkbpf_event_slow_io */
};

/* flags of SLOW_IO */
/* still in flight at the end of the interval, which is header.time_ns */
#define PKBPF_SLOW_IO_OPEN     1
#define PKBPF_SLOW_IO_FAILED   2
#define PKBPF_SLOW_IO_FUA      4 /* complete only when on stable storage */
#define PKBPF_SLOW_IO_METADATA 8 /* metadata of a file system */

#define PKBPF_NO_SECTOR (~0ULL)

/* One slow request. Its latency runs from insertion (or from issue, when it was issued at once) to
 * completion at header.time_ns. The totals count the request as well. */
struct pkbpf_event_slow_io {
	struct pkbpf_event_header header;
	__u64 stack_id; /* of an earlier PKBPF_EVENT_STACK; 0: no stack */
	__u64 cgroup_id;
	__u64 insert_ns;
	__u64 issue_ns; /* last issue to the device; 0 (OPEN only): not yet issued */
	/* first sector, in units of 512 bytes from the start of the device; PKBPF_NO_SECTOR: none
	 * or unknown */
	__u64 sector;
	__u32 pid, tid; /* submitter, as in totals; tid 0: unknown */
	__u32 device;	/* major << 20 | minor */
	__u32 bytes;	/* requested */
	__u8 state;	/* enum pkbpf_blockio_operation with its flags */
	__u8 reserved[7];
	char comm[PKBPF_COMM_SIZE];
};

_Static_assert(sizeof(struct pkbpf_event_slow_io) == 16 + 40 + 16 + 8 + 16, "wire size");

#define PKBPF_BLOCKIO_NO_ROW PKBPF_MEMO_NONE

/* A request in flight; the key is its address in the kernel. Drivers reuse the same addresses, so
 * entries stay in the map. */
struct pkbpf_blockio_request {
	__u64 insert_ns; /* inserted into the queue at; 0: not in the queue */
	__u64 issue_ns;	 /* issued to the device at; 0: not with the device */
	__u64 queue_ns;	 /* queue time before */
	__u32 bytes;	 /* completed so far, in parts */
	__u32 length;	 /* bytes at insertion or issue */
	__u32 row;
	__u32 tid; /* of the submitter */
};

struct pkbpf_blockio_row_key {
	__u64 stack_id;
	__u32 pid, tid;
	__u32 device;
	__u8 state, lower;
	__u16 comm; /* low bits of pkbpf_comm_hash() */
};

/* Sums of one stack, device and operation; all CPUs add to it. The submitter's CPU reads the first
 * part. The completing CPU, often another one, writes the second part. Each part is one cache
 * line. */
struct pkbpf_blockio_row {
	struct pkbpf_blockio_row_key key;
	__u32 histogram; /* PKBPF_BLOCKIO_NO_ROW: none */
	__u32 ready;	 /* 1: user space may read the row */
	__u64 cgroup_id;
	char comm[PKBPF_COMM_SIZE];
	__u64 reserved;
	__u64 count, bytes, total_ns, max_ns;
	__u64 queue_ns, queue_max_ns;
	__u32 reserved2[3];
	/* must be last: it keeps its value when the fields before it are cleared, see
	 * slot_take() */
	__u32 claims;
};

_Static_assert(sizeof(struct pkbpf_blockio_row) == 128, "map value");
_Static_assert(__builtin_offsetof(struct pkbpf_blockio_row, count) == 64, "own cache line");

struct pkbpf_blockio_histogram_key {
	__u32 pid, tid;
	__u32 device;
	__u8 state, lower;
	__u16 reserved;
};

struct pkbpf_blockio_histogram {
	__u32 device_time[PKBPF_HISTOGRAM_BUCKETS];
	__u32 queue_time[PKBPF_HISTOGRAM_BUCKETS];
	__u32 reserved;
	__u32 claims; /* must be last, as in a row */
};

/* Kernels align array elements to 8 bytes, and user space maps them as an array of this struct. */
_Static_assert(sizeof(struct pkbpf_blockio_histogram) % 8 == 0, "map value");

#endif
