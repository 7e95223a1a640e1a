/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of processes over time, as the kernel counts it. At most MEMORY_POINTS_MAX points. One
 * owner thread. */
#ifndef PKBPF_PROFILE_ACCOUNT_MEMORY_LIST_H
#define PKBPF_PROFILE_ACCOUNT_MEMORY_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/event.h>

#include "base/array.h"

#define MEMORY_POINTS_MAX (1U << 18)
/* Points of one process; when there would be more, the lower one of each pair goes. */
#define MEMORY_SERIES_POINTS 256

struct memory_point {
	uint32_t pid;
	uint32_t regions; /* resident pages are those of one in this many regions; 0: not looked at
			   */
	char comm[PKBPF_COMM_SIZE + 1];
	uint64_t time_ns;			/* CLOCK_MONOTONIC */
	uint64_t anonymous, file, shared, swap; /* bytes */
	uint64_t peak;				/* the most that all but swap has been */
};

/* Resident memory. */
static inline uint64_t memory_point_rss(const struct memory_point *point)
{
	return point->anonymous + point->file + point->shared;
}

struct memory_list { /* zero-initialized: empty; points of a process in order of time */
	ARRAY_OF(struct memory_point) items;
	bool is_full; /* with few points of each process: nothing more is taken in */
};

/* When there would be too many, processes keep fewer points each. -ENOMEM; -ENOSPC: too many
 * processes, and the point is left out. */
int memory_list_add(struct memory_list *list, const struct memory_point *point);

/* A process's points while they come. */
struct memory_series {
	struct memory_point points[MEMORY_SERIES_POINTS];
	size_t count;
	bool repeats; /* the last point says the same as the one before */
};

void memory_series_add(struct memory_series *series, const struct memory_point *point);

#endif
