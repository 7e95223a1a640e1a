/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the page-fault programs and their source share. */
#ifndef PKBPF_FAULTS_H
#define PKBPF_FAULTS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>

/* state of samples and totals of kind FAULTS: how grave, and which memory (samples only). Part of
 * the recording format. */
enum pkbpf_fault {
	PKBPF_FAULT_MINOR = 1, /* the page was in memory, or is made of zeroes */
	PKBPF_FAULT_MAJOR = 2, /* it had to be read */
};

#define PKBPF_FAULT_MASK 0x0f

/* The event of major faults comes for each of them, that of minor ones never so often: by this the
 * program that both call knows which it is. Neither samples its period (PERF_SAMPLE_PERIOD). */
#define PKBPF_FAULT_MAJOR_PERIOD 1

enum pkbpf_fault_memory {
	PKBPF_FAULT_MEMORY_UNKNOWN = 0,
	PKBPF_FAULT_MEMORY_ANONYMOUS = 1,
	PKBPF_FAULT_MEMORY_HEAP = 2,   /* below the program break */
	PKBPF_FAULT_MEMORY_STACK = 3,  /* of the first thread, or any that grows down */
	PKBPF_FAULT_MEMORY_FILE = 4,   /* private mapping of a file */
	PKBPF_FAULT_MEMORY_SHARED = 5, /* shared mapping, of a file or not */
	PKBPF_FAULT_MEMORIES = 6,
};

#define PKBPF_FAULT_MEMORY_SHIFT 4

/* measure of totals of kind FAULTS. Samples estimate; these are exact. */
enum pkbpf_fault_measure {
	PKBPF_FAULT_EXACT = 1, /* a process's faults by the task's own counters: count */
	/* Those among them that were announced, which a sample may have hit: count and variance. */
	PKBPF_FAULT_ANNOUNCED = 2,
};

/* Page faults of a process until it or some of its threads ended, or the interval did. */
struct pkbpf_fault_process {
	__u64 minor, major;
	__u64 cgroup_id;
	char comm[PKBPF_COMM_SIZE];
};

/* What a thread had when the interval began. */
struct pkbpf_fault_thread {
	__u64 minor, major;
	__u64 born_ns; /* of the thread that has the number */
};

/*
 * What the events that announce faults have counted on behalf of a process, [0] minor, [1] major,
 * with a stack or without. Each comes once in a period, to whoever has the last fault of it.
 */
struct pkbpf_fault_announced {
	__u64 count[2];
	/* sum of the squares of those periods that another process may have had a part in */
	__u64 squares[2];
};

#endif
