/* SPDX-License-Identifier: BSD-2-Clause */
/* Time of each process by thread state: on-CPU, run queue, sleep, disk wait. */
#ifndef PKBPF_ROWS_WAITS_H
#define PKBPF_ROWS_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/offcpu.h>

#include "base/histogram.h"
#include "profile/profile.h"

struct waits_process {
	uint32_t process; /* incarnation id */
	uint32_t thread_count;
	uint64_t time_ns[PKBPF_WAIT_STATES]; /* of all threads; PKBPF_WAIT_NONE: on a CPU */
	uint64_t count[PKBPF_WAIT_STATES];
	uint64_t voluntary, involuntary; /* context switches */
	uint64_t wall_ns;		 /* what the times must add up to */
};

struct waits {
	size_t count;
	struct waits_process *processes; /* longest time off the CPUs first */
	struct waits_process all;
	/* The thread whose times miss its wall clock by most. */
	uint32_t worst_tid;
	uint64_t worst_miss_ns, worst_wall_ns;
	bool estimated; /* stacks were taken of a sample of the waits */
};

/* -ENOMEM. No processes: no off-CPU time was measured. */
int waits_init(struct waits *waits, const struct profile *profile);
void waits_done(struct waits *waits);
/* Time neither on a CPU nor able to run. */
uint64_t waits_blocked_ns(const struct waits_process *process);
/* How long the waits of a process in a state were; empty: none were recorded. */
void waits_lengths(const struct profile *profile, uint32_t process, enum pkbpf_wait_state state,
		   struct histogram *ret_histogram);

#endif
