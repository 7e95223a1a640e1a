/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What grows, and when it meets its limit: of each figure the 95th percentile of the ten-minute
 * windows of a day, and the slope over the days by Theil (1950) and Sen (1968), the median of the
 * slopes of all pairs of days, which a few unusual days do not move.
 */
#ifndef PKBPF_HISTORY_CAPACITY_H
#define PKBPF_HISTORY_CAPACITY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "store/store.h"

#define CAPACITY_DAYS_MAX 28
/* With fewer, a slope is no more than the rhythm of a week. */
#define CAPACITY_DAYS_MIN 7

enum capacity_what {
	CAPACITY_CPU,
	CAPACITY_MEMORY,
	CAPACITY_READ,
	CAPACITY_WRITTEN,
	CAPACITY_COUNT
};

struct capacity_sample {
	double value;
	uint64_t length_ns; /* of its window */
};

struct capacity_day {
	int64_t number; /* since 1970, UTC */
	double p95;
};

struct capacity_figure {
	struct capacity_day days[CAPACITY_DAYS_MAX]; /* in order */
	size_t day_count;
	bool has_growth;	/* enough days */
	double growth_per_week; /* in the figure's unit */
	bool meets_limit;	/* grows towards one */
	double days_to_limit;	/* from the last day on; 0: has met it */
};

struct capacity {
	struct capacity_figure figures[CAPACITY_COUNT];
	size_t windows;
};

/* Of the windows of a day, which are sorted, weighted by their length. false: they cover less than
 * 18 hours of it. */
bool capacity_day_p95(struct capacity_sample *samples, size_t count, double *ret_p95);
/* Fills in growth from the days. limit 0: none. */
void capacity_estimate(struct capacity_figure *figure, double limit);
/* Of the last 28 days that the history has, up to `to`. -ENODATA, -ENOMEM with the sentence. */
int capacity_read(struct store *store, int64_t to_unix_ns, struct capacity *ret_capacity,
		  struct error *error);
void capacity_write_text(const struct capacity *capacity, FILE *out);
void capacity_write_json(const struct capacity *capacity, FILE *out);

#endif
