/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of resident memory, and layouts shared by their programs and their source.
 *
 * Pages are chosen by their address: all of a region of 2 MiB or none. So every event of a chosen
 * page is seen, and nothing has to be known of the others.
 */
#ifndef PKBPF_MEMORY_H
#define PKBPF_MEMORY_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>

enum pkbpf_memory_event {
	PKBPF_EVENT_PAGE = 66,	 /* struct pkbpf_event_page: a page is written that was not there */
	PKBPF_EVENT_MAPPED = 67, /* struct pkbpf_event_mapped: memory comes without page faults */
	PKBPF_EVENT_PRESENT = 68,  /* struct pkbpf_event_present: pages that are there */
	PKBPF_EVENT_RESIDENT = 69, /* struct pkbpf_event_resident: counters of a process */
};

#define PKBPF_MEMORY_REGION_SHIFT 21

/* Of regions with an equal hash, one in mask + 1 is chosen; a chosen region is chosen under all
 * smaller masks, too. */
static inline __attribute__((always_inline)) int pkbpf_memory_is_chosen(__u64 address, __u32 mask)
{
	return !((__u32)(((address >> PKBPF_MEMORY_REGION_SHIFT) * 0x9E3779B97F4A7C15ULL) >> 40) &
		 mask);
}

#define PKBPF_MEMORY_MAX_MASK 0x3ff

/* flags of PAGE */
#define PKBPF_PAGE_WAS_SHARED 1 /* its contents were there, of a parent or all zero */

struct pkbpf_event_page {
	struct pkbpf_event_header header;
	__u64 stack_id; /* of an earlier PKBPF_EVENT_STACK; 0: no stack */
	__u32 pid;
	__u32 mask; /* when it was chosen */
	__u64 cgroup_id;
	__u64 address;
	char comm[PKBPF_COMM_SIZE];
};

/* flags of MAPPED */
#define PKBPF_MAPPED_MOVED 1 /* from `from`, with its pages; else new, and filled at once */

struct pkbpf_event_mapped {
	struct pkbpf_event_header header;
	__u64 stack_id;
	__u32 pid;
	__u32 reserved;
	__u64 cgroup_id;
	__u64 start, length, from;
	char comm[PKBPF_COMM_SIZE];
};

/* flags of PRESENT: one look at a process is a sequence of records of one time. */
#define PKBPF_PRESENT_FIRST  1
#define PKBPF_PRESENT_LAST   2
#define PKBPF_PRESENT_BEFORE 4 /* the interval */

struct pkbpf_present_run {
	__u64 start; /* address */
	__u32 pages;
	__u32 swapped; /* 1: in swap, not in memory */
};

#define PKBPF_PRESENT_RUNS 512

struct pkbpf_event_present {
	struct pkbpf_event_header header;
	__u32 pid;
	__u32 page_bytes;
	struct pkbpf_present_run runs[];
};

struct pkbpf_event_resident {
	struct pkbpf_event_header header;
	__u32 pid;
	__u32 reserved;
	__u64 cgroup_id;
	__u64 anonymous, file, shared, swap; /* bytes */
	__u64 peak;			     /* of all but swap */
	char comm[PKBPF_COMM_SIZE];
};

/* A process whose pages are watched. */
struct pkbpf_memory_process {
	__u32 mask;
	/* Stacks that may be taken before fewer regions are chosen; they come back with time. */
	__s32 stacks;
	__u64 refilled_ns;
};

#define PKBPF_MEMORY_PROCESSES 16384

_Static_assert(sizeof(struct pkbpf_event_page) == 16 + 32 + 16, "wire size");
_Static_assert(sizeof(struct pkbpf_event_mapped) == 16 + 48 + 16, "wire size");
_Static_assert(sizeof(struct pkbpf_event_present) == 16 + 8, "wire size");
_Static_assert(sizeof(struct pkbpf_present_run) == 16, "wire size");
_Static_assert(sizeof(struct pkbpf_event_resident) == 16 + 56 + 16, "wire size");

#endif
