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
	/* When it stood at first, to the interval between two points; 0: before the first one. */
	uint64_t peak_at_ns;
};

static inline const struct memory_point *memory_row_last(const struct memory_row *row)
{
	return row->points[row->count - 1];
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
