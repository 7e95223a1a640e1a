/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of rows of one name and container for which a rule holds: the workers of a server. */
#ifndef PKBPF_ROWS_ROW_GROUPS_H
#define PKBPF_ROWS_ROW_GROUPS_H

#include <stddef.h>

#include "rows/resource_rows.h"

struct row_group {
	struct resource_row sum; /* its figures; nobody in particular */
	const struct resource_row **members;
	size_t count;
	const struct resource_row *worst;
	double severity; /* of the worst */
};

struct row_groups {
	struct row_group *items; /* the worst first */
	size_t count;
	const struct resource_row **members; /* of all groups */
};

/* How bad it is for a row; < 0: it does not hold. */
typedef double (*row_judge_fn)(const struct resource_rows *rows, const struct resource_row *row);

/* The profiler's own row is in none. Borrows the rows; none when there is no memory. */
void row_groups_find(struct row_groups *groups, const struct resource_rows *rows,
		     row_judge_fn judge);
void row_groups_done(struct row_groups *groups);

#endif
