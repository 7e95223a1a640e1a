/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The single events of a trace by thread. A lane is one account of a thread: from where it began to
 * where it ended. Its waits and, between them, its time on a CPU and in waits that are not known
 * one by one add up to its length, to the nanosecond.
 */
#ifndef PKBPF_EXPORT_PAGE_LANE_LIST_H
#define PKBPF_EXPORT_PAGE_LANE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "profile/profile.h"

#define LANE_NONE UINT32_MAX

struct lane_event {
	const struct moment *moment; /* a wait, or a CPU sample */
	/* waits: CPU time since the end of the wait before, or the begin of the lane */
	uint64_t ran_ns;
};

struct lane {
	uint32_t pid, tid;
	const struct moment *last; /* has its process and comm */
	uint64_t begin_ns, end_ns;
	uint64_t last_ran_ns; /* CPU time after its last wait */
	bool is_complete;     /* its account is known: begin, end, and time on a CPU */
	/* places in waits and samples of the list, in order of time */
	size_t first_wait, wait_count, first_sample, sample_count;
};

struct lane_list {		     /* zero-initialised is empty */
	ARRAY_OF(struct lane) lanes; /* by pid, tid and begin */
	ARRAY_OF(struct lane_event) waits, samples;
	uint32_t *by_tid; /* numbers of lanes, by tid and begin */
};

/* Borrows the moments of the profile. -ENOMEM: it is empty. */
int lane_list_make(struct lane_list *list, const struct profile *profile);
/* The lane of a thread at that time; LANE_NONE: unknown. */
uint32_t lane_list_find(const struct lane_list *list, uint32_t tid, uint64_t time_ns);
void lane_list_done(struct lane_list *list);

#endif
