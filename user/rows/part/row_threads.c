// SPDX-License-Identifier: BSD-2-Clause
/* The figures of a row's threads, which are counted where their rows are made. */
#include "base/array.h"
#include "rows/figure.h"
#include "rows/resource_rows.h"

static const struct figure figures[] = {
	FIGURE_ROW("threads", "alive", COUNT, threads, 0, "threads at the end", .is_level = true),
	FIGURE_ROW("threads", "seen", COUNT, threads_seen, ROW_HAS_USAGE,
		   "threads at any time in the interval", .is_level = true),
};

const struct row_part row_threads_part = {
	.figures = figures,
	.figure_count = ARRAY_SIZE(figures),
};
