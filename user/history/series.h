/* SPDX-License-Identifier: BSD-2-Clause */
/* A figure over time: of the machine, or of containers or programs. One owner thread. */
#ifndef PKBPF_HISTORY_SERIES_H
#define PKBPF_HISTORY_SERIES_H

#include <stdio.h>

#include "base/array.h"
#include "history/history_range.h"
#include "history/series_subject.h"
#include "rows/figure_table.h"

struct series_question {
	struct series_subject subject;
	enum rows_by by;  /* ROWS_BY_CONTAINER or ROWS_BY_COMM; regions: by name */
	uint64_t step_ns; /* length of a point; 0: that of the windows there are */
	struct history_range range;
	struct slice_choice choice;
};

struct series_group {
	char name[ROW_CONTAINER_SIZE];
	double sum;
	double *values;	    /* by point; NAN, of regions: none was left */
	double *watched_ns; /* by point, of regions: while their program had probes; else NULL */
};

struct series_point {
	struct history_range range;
	double busy_percent;	      /* of the machine; < 0 unknown */
	double covered_ns;	      /* without gaps */
	double regions_ns;	      /* of it, while regions were recorded */
	unsigned int shed_steps;      /* the most of its windows */
	char shed[PROFILE_SHED_SIZE]; /* what was left out of it */
};

struct series {
	struct series_question question;
	ARRAY_OF(struct series_point) points;
	ARRAY_OF(struct series_group) groups; /* largest first */
};

/* Percentiles of a point that merges windows are those of the merged histograms. -ENOMEM; -EINVAL:
 * the step is too short; with the sentence; ret_series is for series_done() all the same. */
int series_read(struct store *store, const struct series_question *question,
		struct series *ret_series, struct error *error);
/* Does it grow with the interval, so that per second it can be compared? */
bool figure_adds_up(const struct figure *figure);
/* What adds up per second, all else as it is. */
double series_value(const struct series *series, const struct series_group *group, size_t point);
void series_write_json(const struct series *series, size_t top, FILE *out);
void series_write_csv(const struct series *series, size_t top, FILE *out);
void series_write_text(const struct series *series, size_t top, FILE *out);
void series_done(struct series *series);

#endif
