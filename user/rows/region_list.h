/* SPDX-License-Identifier: BSD-2-Clause */
/* The regions of a profile as lines: of each process, of each comm, or of all together. */
#ifndef PKBPF_ROWS_REGION_LIST_H
#define PKBPF_ROWS_REGION_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

enum region_grouping {
	REGION_BY_PROCESS, /* a tree for each process */
	REGION_BY_COMM,	   /* one for all processes of one comm */
	/* One line for each name, wherever it is and however it is begun; a region inside one of
	 * the same name adds to the count and the percentiles, not to the times. A name that had no
	 * probes has a line also when it was not counted once. */
	REGION_BY_NAME,
};

/* Allocations, estimated from samples. Live: not freed at the end. */
struct region_heap {
	uint64_t allocated_objects, allocated_bytes;
	uint64_t live_objects, live_bytes;
};

struct region_line {
	const char *name; /* not escaped; of the profile */
	const char *comm; /* of its process; "": unknown, or REGION_BY_NAME */
	uint32_t pid;	  /* 0: unknown, or several */
	uint32_t parent;  /* line before this one; REGION_ROOT: none */
	uint32_t depth;	  /* 0: has no parent */
	bool by_id;	  /* all begun and ended by number, perhaps in different threads */
	bool is_function; /* its calls */
	bool is_request;  /* requests with this label: no region, whatever its name */
	bool is_let_go;	  /* and more, that were not counted */
	struct region_sums sums;
	/* Its file had no probes, since they cost too much: for regions of this name, everywhere.
	 */
	uint64_t missed_ns;
	uint64_t self_ns;		 /* of the wall time: outside of regions below it */
	uint64_t p50_ns, p95_ns, p99_ns; /* within 3.1 %; 0 when none was left */
	double items_per_second;	 /* items / wall time in the region; 0: no items */
	/* Of the machine's, by the share of the time on a CPU; 0: not known. */
	uint64_t energy_mj;
	struct region_heap heap; /* with regions inside; 0 without allocations of regions */
};

struct region_list {		   /* zero-initialised: empty */
	struct region_line *lines; /* a parent before its children; siblings by wall time */
	size_t count;
};

/* All calls of a function that began: outermost and recursive ones, those that were only counted,
 * and those that did not return. Of a region: those that were left. */
static inline uint64_t region_line_calls(const struct region_line *line)
{
	const struct region_sums *sums = &line->sums;

	return !line->is_function ? sums->count
				  : sums->count + sums->recursive + sums->unmeasured +
					    sums->lost_end + sums->unfinished;
}

/* Resident memory of the process when the region ended, on average; needs sums.rss_readings. */
static inline uint64_t region_line_mean_rss(const struct region_line *line)
{
	return line->sums.rss_sum_kib / line->sums.rss_readings * 1024;
}

/* -ENOMEM. */
int region_list_init(struct region_list *list, const struct profile *profile,
		     enum region_grouping grouping);
void region_list_done(struct region_list *list);
/* Of REGION_BY_NAME; NULL: no such region. A label is none: a program may choose any. */
const struct region_line *region_list_find(const struct region_list *list, const char *name);

#endif
