/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the weights of a merged profile's rows lie in time: a part for each row and slice in which it
 * has something. Slices are joined by twos whenever they become too many, or their parts take too
 * much memory. One owner thread.
 */
#ifndef PKBPF_PROFILE_SLICE_TIME_LINE_H
#define PKBPF_PROFILE_SLICE_TIME_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

/* As many as can be told apart on a screen. */
#define TIME_LINE_SLICES_MAX 600
/* 64 MiB. */
#define TIME_LINE_PARTS_MAX (4U << 20)

struct time_slice {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
};

struct time_part {
	uint32_t row; /* index in profile_rows() */
	uint32_t slice;
	/* Of a level (is_level in kind_table.h) the change in the slice: parts up to a slice add up
	 * to the level at its end. */
	int64_t weight;
};

struct time_line { /* zero-initialised is empty */
	ARRAY_OF(struct time_slice) slices;
	ARRAY_OF(struct time_part) parts; /* in no order; several may be of one row and slice */
	size_t joined;			  /* slices that were added into the last one */
	size_t per_slice;		  /* that are added into each; 0: 1 */
	bool failed;			  /* too many parts, or out of memory: it is empty */
};

/* Begins the next slice; parts are added to it. */
void time_line_begin(struct time_line *line, uint64_t start_ns, uint64_t end_ns);
void time_line_add(struct time_line *line, uint32_t row, int64_t weight);
/* Updates the numbers of rows: numbers[old] is the new one, also of several. */
void time_line_renumber(struct time_line *line, const uint32_t *numbers);
void time_line_done(struct time_line *line);

#endif
