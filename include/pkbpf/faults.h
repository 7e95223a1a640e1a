/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Layouts shared by the page-fault programs and their source. */
#ifndef PKBPF_FAULTS_H
#define PKBPF_FAULTS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>

/* state of samples and totals of kind FAULTS: severity, and in samples the kind of memory. Part of
 * the recording format. */
enum pkbpf_fault {
	PKBPF_FAULT_MINOR = 1, /* the page was in memory or is a zero page */
	PKBPF_FAULT_MAJOR = 2, /* the page was read from a disk or swap */
};

#define PKBPF_FAULT_MASK 0x0f

/* Both events call one program, which tells them apart by the period. The event of major faults has
 * period 1; the event of minor faults never does. Neither event samples its period
 * (PERF_SAMPLE_PERIOD). */
#define PKBPF_FAULT_MAJOR_PERIOD 1

enum pkbpf_fault_memory {
	PKBPF_FAULT_MEMORY_UNKNOWN = 0,
	PKBPF_FAULT_MEMORY_ANONYMOUS = 1,
	PKBPF_FAULT_MEMORY_HEAP = 2, /* below the program break */
	/* stack of the first thread, or any mapping that grows down */
	PKBPF_FAULT_MEMORY_STACK = 3,
	PKBPF_FAULT_MEMORY_FILE = 4,   /* private mapping of a file */
	PKBPF_FAULT_MEMORY_SHARED = 5, /* shared mapping, with or without a file */
	PKBPF_FAULT_MEMORIES = 6,
};

#define PKBPF_FAULT_MEMORY_SHIFT 4

/* measure of totals of kind FAULTS. Samples are estimates; these totals are exact. */
enum pkbpf_fault_measure {
	PKBPF_FAULT_EXACT = 1, /* faults of a process from the task's own counters: count */
	/* faults among them that raised a perf event, and so could be sampled: count and
	 * variance */
	PKBPF_FAULT_ANNOUNCED = 2,
};

/* Page faults of a process, counted up to its exit, the exit of some of its threads, or the end of
 * the interval. */
struct pkbpf_fault_process {
	__u64 minor, major;
	__u64 cgroup_id;
	char comm[PKBPF_COMM_SIZE];
};

/* Counters of a thread at the start of the interval. */
struct pkbpf_fault_thread {
	__u64 minor, major;
	/* start time of the thread, which tells it from a later one with the same tid */
	__u64 born_ns;
};

/* Faults that perf events have counted for a process, with or without a stack: [0] minor, [1]
 * major. An event fires once per period, for the process that has the period's last fault. */
struct pkbpf_fault_announced {
	__u64 count[2];
	/* sum of the squares of those periods that may contain faults of another process */
	__u64 squares[2];
};

#endif
