/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the block I/O programs and their source share: requests in flight, sums per stack,
 * histograms, requests that took long. */
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
	PKBPF_BLOCKIO_DISCARD = 4, /* and secure erase, write zeroes */
	PKBPF_BLOCKIO_OTHER = 5,
	PKBPF_BLOCKIO_OPERATIONS = 6,
};

#define PKBPF_BLOCKIO_OPERATION_MASK 0x07
#define PKBPF_BLOCKIO_SYNC	     0x08 /* somebody waits for it */
#define PKBPF_BLOCKIO_AHEAD	     0x10 /* read ahead of need */

/*
 * measure of totals of kind BLOCKIO. A stacked device (loop) has its work done by another one.
 * Those requests are real on their device, but their data was already counted for the process that
 * asked: LOWER ones belong to devices only.
 */
enum pkbpf_blockio_measure {
	PKBPF_BLOCKIO_DEVICE_TIME = 0, /* issue to completion, ns */
	PKBPF_BLOCKIO_QUEUE_TIME = 1,  /* insertion to issue, ns; 0 when issued at once */
	PKBPF_BLOCKIO_LOWER_DEVICE_TIME = 2,
	PKBPF_BLOCKIO_LOWER_QUEUE_TIME = 3,
};

/* Stands for the processes whose pages a kernel worker writes: this bit, and the cgroup of the
 * pages, 0 unknown. */
#define PKBPF_PID_WRITEBACK  0x80000000U
#define PKBPF_WRITEBACK_COMM "[writeback]"

enum pkbpf_blockio_event {
	PKBPF_EVENT_SLOW_IO = 32, /* struct pkbpf_event_slow_io */
};

/* flags of SLOW_IO */
#define PKBPF_SLOW_IO_OPEN     1 /* not complete when the interval ended, which is header.time_ns */
#define PKBPF_SLOW_IO_FAILED   2
#define PKBPF_SLOW_IO_FUA      4 /* on stable storage when complete */
#define PKBPF_SLOW_IO_METADATA 8 /* of a file system */

#define PKBPF_NO_SECTOR (~0ULL)

/*
 * One request that took long, from its insertion (or issue, when it was issued at once) to its
 * completion at header.time_ns. It counts in the totals as well.
 */
struct pkbpf_event_slow_io {
	struct pkbpf_event_header header;
	__u64 stack_id; /* of an earlier PKBPF_EVENT_STACK; 0: no stack */
	__u64 cgroup_id;
	__u64 insert_ns;
	__u64 issue_ns; /* to the device, the last time; 0, OPEN only: not yet */
	/* first one, of 512 bytes, from the start of the device; PKBPF_NO_SECTOR: has none, or
	 * unknown */
	__u64 sector;
	__u32 pid, tid; /* who submitted it, as in totals; tid 0: not known */
	__u32 device;	/* major << 20 | minor */
	__u32 bytes;	/* asked for */
	__u8 state;	/* enum pkbpf_blockio_operation with its flags */
	__u8 reserved[7];
	char comm[PKBPF_COMM_SIZE];
};

_Static_assert(sizeof(struct pkbpf_event_slow_io) == 16 + 40 + 16 + 8 + 16, "wire size");

#define PKBPF_BLOCKIO_NO_ROW PKBPF_MEMO_NONE

/* A request in flight, by its address in the kernel. Drivers use the same ones again and again:
 * entries stay. */
struct pkbpf_blockio_request {
	__u64 insert_ns; /* in the queue since; 0: not */
	__u64 issue_ns;	 /* with the device since; 0: not */
	__u64 queue_ns;	 /* time in the queue before */
	__u32 bytes;	 /* done so far, in parts */
	__u32 length;	 /* when it was inserted or issued */
	__u32 row;
	__u32 tid; /* of the submitter */
};

struct pkbpf_blockio_row_key {
	__u64 stack_id;
	__u32 pid, tid;
	__u32 device;
	__u8 state, lower;
	__u16 comm; /* of pkbpf_comm_hash() */
};

/*
 * Sums of one stack, device and operation; all CPUs add to it. Who submits a request reads the
 * first part, who completes it, often on another CPU, writes the second: each is a cache line.
 */
struct pkbpf_blockio_row {
	struct pkbpf_blockio_row_key key;
	__u32 histogram; /* PKBPF_BLOCKIO_NO_ROW: none */
	__u32 ready;	 /* 1: user space may look at it */
	__u64 cgroup_id;
	char comm[PKBPF_COMM_SIZE];
	__u64 reserved;
	__u64 count, bytes, total_ns, max_ns;
	__u64 queue_ns, queue_max_ns;
	__u32 reserved2[3];
	__u32 claims; /* last: outlives what is before it, see slot_take() */
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
	__u32 claims; /* last, as in a row */
};

/* Kernels keep array elements 8 bytes aligned, and user space maps them as an array of these. */
_Static_assert(sizeof(struct pkbpf_blockio_histogram) % 8 == 0, "map value");

#endif
