/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records of sampled allocations, and layouts shared by their programs and their source. */
#ifndef PKBPF_ALLOC_H
#define PKBPF_ALLOC_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>

enum pkbpf_alloc_event {
	PKBPF_EVENT_ALLOC = 64, /* struct pkbpf_event_alloc: a sampled allocation */
	PKBPF_EVENT_FREE = 65,	/* struct pkbpf_event_free: the end of one */
};

/* flags of ALLOC: a call in a window, whose address and end are not known; weight is the mean
 * distance of samples in bytes instead. */
#define PKBPF_ALLOC_CALL 1

struct pkbpf_event_alloc {
	struct pkbpf_event_header header;
	__u64 stack_id; /* of an earlier PKBPF_EVENT_STACK; 0: no stack */
	__u32 pid;
	__u32 tid;
	__u64 cgroup_id;
	__u64 address;
	__u64 size;
	/* bytes for which it stands: size / probability that it was sampled, at least size */
	__u64 weight;
	char comm[PKBPF_COMM_SIZE];
};

/* The allocation may be one that was never recorded. */
struct pkbpf_event_free {
	struct pkbpf_event_header header;
	__u32 pid;
	__u32 tid;
	__u64 address;
};

/* Where a function has the size among its arguments. */
enum pkbpf_alloc_shape {
	PKBPF_ALLOC_FIRST,
	PKBPF_ALLOC_SECOND,
	PKBPF_ALLOC_THIRD,
	PKBPF_ALLOC_PRODUCT, /* of the first two: calloc() */
	PKBPF_ALLOC_AGAIN,   /* the second, of memory that is there: realloc() */
	PKBPF_ALLOC_SHAPES,
};

/* A producer is not to be believed beyond these: no address space is as large. */
#define PKBPF_ALLOC_MAX_BYTES (1ULL << 47)

/* A free whose record found no room in the ring; the value is its time. User space reads the map,
 * so that a lost record does not look like a leak. */
struct pkbpf_alloc_late_free {
	__u64 address;
	__u32 pid;
	__u32 reserved;
};

#define PKBPF_ALLOC_LATE_FREES 65536

_Static_assert(sizeof(struct pkbpf_event_alloc) == 16 + 48 + 16, "wire size");
_Static_assert(sizeof(struct pkbpf_event_free) == 16 + 16, "wire size");

#endif
