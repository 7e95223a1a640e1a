/* SPDX-License-Identifier: BSD-2-Clause */
/* What processes or threads did over time, in sums by window: lanes of a picture. One owner thread.
 *
 * A history has no single events. Where waits were not recorded, it has CPU time and run queue
 * alone; the rest of a thread's life then has no state. */
#ifndef PKBPF_HISTORY_STATE_LANES_H
#define PKBPF_HISTORY_STATE_LANES_H

#include <stdio.h>

#include "base/array.h"
#include "history/history_range.h"
#include "history/lane_regions.h"
#include "rows/resource_rows.h"

/* Windows of an answer; neighbours are merged where there are more. */
#define STATE_LANES_POINTS_MAX 120
/* Lanes that are led at a time; when they are full, the less active half goes to the others. What
 * is active again is a lane again: what it did before stays in the others. */
#define STATE_LANES_MAX 1024

enum lane_state {
	LANE_STATE_ON_CPU,
	LANE_STATE_RUNQUEUE,
	LANE_STATE_DISK,
	LANE_STATE_UNINTERRUPTIBLE,
	LANE_STATE_GPU, /* waits for a GPU, asleep or spinning */
	LANE_STATE_SLEEP,
	LANE_STATE_STOPPED,
	LANE_STATE_OTHER, /* off-CPU, in a state that is not known */
	LANE_STATES
};

struct state_lane {
	uint32_t pid, tid; /* 0: does not apply */
	char name[ROW_NAME_SIZE], container[ROW_CONTAINER_SIZE];
	uint64_t active_ns;		 /* all but sleep, stopped and what is not known */
	uint64_t (*values)[LANE_STATES]; /* by point */
	struct lane_region *regions;	 /* by point; NULL: none; not of threads and the others */
};

struct lane_point {
	struct history_range range;
	uint64_t covered_ns;	      /* without gaps and unreadable windows */
	uint64_t regions_ns;	      /* of them, while regions were recorded */
	unsigned int shed_steps;      /* of its windows */
	char shed[PROFILE_SHED_SIZE]; /* what was left out of it */
};

struct state_lanes {
	enum rows_by by; /* PROCESS, THREAD, CONTAINER, COMM or NAME */
	ARRAY_OF(struct lane_point) points;
	ARRAY_OF(struct state_lane) lanes; /* the most active first */
	struct state_lane others;
	size_t others_count; /* identities in them */
	struct string_pool *region_names;
	bool has_waits; /* waits were recorded */
};

/* -ENOMEM; errors of the store; with the sentence. ret_lanes is for state_lanes_done() all the
 * same. */
int state_lanes_read(struct store *store, const struct history_range *range,
		     const struct slice_choice *choice, enum rows_by by,
		     struct state_lanes *ret_lanes, struct error *error);
/* The first `top` of them; the rest is added to the others. */
void state_lanes_write_json(struct state_lanes *lanes, size_t top, FILE *out);
void state_lanes_done(struct state_lanes *lanes);

#endif
