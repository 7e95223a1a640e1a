// SPDX-License-Identifier: BSD-2-Clause
/* Held leases of a row. */
#include "base/array.h"
#include "rows/figure.h"
#include "rows/resource_rows.h"

#define ROW_HAS_LEASES ROW_HAS_KIND(PKBPF_PROFILE_LEASES)

static const struct figure figures[] = {
	FIGURE_ROW("leases", "total", COUNT, leases.count, ROW_HAS_LEASES, "leases held"),
	FIGURE_ROW("leases", "held", NS, leases.held_ns, ROW_HAS_LEASES,
		   "time for which they were"),
};

static void add_distribution(struct resource_row *row, const struct distribution *distribution)
{
	if (distribution->key.kind != PKBPF_PROFILE_LEASES)
		return;
	row->leases.count += distribution->count;
	row->leases.held_ns += distribution->total;
}

const struct row_part row_leases_part = {
	.figures = figures,
	.figure_count = ARRAY_SIZE(figures),
	.add_distribution = add_distribution,
};
