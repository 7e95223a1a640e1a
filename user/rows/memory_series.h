/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of each process over time. */
#ifndef PKBPF_ROWS_MEMORY_SERIES_H
#define PKBPF_ROWS_MEMORY_SERIES_H

#include <stddef.h>

#include "profile/profile.h"

struct memory_row {				  /* of one process */
	const struct memory_point *const *points; /* in order of time, at least one */
	size_t count;
	uint64_t peak_bytes;
	double byte_ns; /* RSS added up over the time between its points, by trapezoids */
	/* When it stood at first, to the interval between two points; 0: before the first one. */
	uint64_t peak_at_ns;
};

static inline const struct memory_point *memory_row_last(const struct memory_row *row)
{
	return row->points[row->count - 1];
}

static inline uint64_t memory_row_length_ns(const struct memory_row *row)
{
	return memory_row_last(row)->time_ns - row->points[0]->time_ns;
}

/* Mean RSS over the time of its points. */
static inline uint64_t memory_row_mean(const struct memory_row *row)
{
	uint64_t length_ns = memory_row_length_ns(row);

	return length_ns ? (uint64_t)(row->byte_ns / (double)length_ns)
			 : memory_point_rss(row->points[0]);
}

struct memory_rows { /* by peak, highest first; refers to the profile */
	struct memory_row *items;
	size_t count;
	const struct memory_point **points;
};

/* -ENOMEM; memory_rows_done() in any case. */
int memory_rows_make(const struct profile *profile, struct memory_rows *ret_rows);
void memory_rows_done(struct memory_rows *rows);

#endif
