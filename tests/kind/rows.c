// SPDX-License-Identifier: BSD-2-Clause
/* Held locks of a row. */
#include "base/array.h"
#include "rows/figure.h"
#include "rows/resource_rows.h"

#define ROW_HAS_LOCKS ROW_HAS_KIND(PKBPF_PROFILE_LOCKS)

static const struct figure figures[] = {
	FIGURE_ROW("locks", "total", COUNT, locks.count, ROW_HAS_LOCKS, "locks held"),
	FIGURE_ROW("locks", "held", NS, locks.held_ns, ROW_HAS_LOCKS, "time for which they were"),
};

static void add_distribution(struct resource_row *row, const struct distribution *distribution)
{
	if (distribution->key.kind != PKBPF_PROFILE_LOCKS)
		return;
	row->locks.count += distribution->count;
	row->locks.held_ns += distribution->total;
}

const struct row_part row_locks_part = {
	.figures = figures,
	.figure_count = ARRAY_SIZE(figures),
	.add_distribution = add_distribution,
};
