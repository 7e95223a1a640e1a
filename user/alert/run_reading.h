/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures of the whole run over time, such as busy CPUs and losses: a few numbers of each slice,
 * so that minutes of them cost nothing. */
#ifndef PKBPF_ALERT_RUN_READING_H
#define PKBPF_ALERT_RUN_READING_H

#include "rows/figure_table.h"

#define RUN_READINGS_MAX 1024
#define RUN_FIGURES_MAX	 16

struct run_reading {
	uint64_t length_ns;
	double values[RUN_FIGURES_MAX]; /* by their order in the table */
	bool known[RUN_FIGURES_MAX];
};

/* The last ones; zero-initialised is empty. */
struct run_readings {
	struct run_reading items[RUN_READINGS_MAX];
	size_t count, next;
};

void run_readings_add(struct run_readings *readings, const struct resource_rows *rows);
/* Over the last over_ns, at least the last slice: shares as their mean by time, numbers as sums,
 * sizes as the last. false: not known of half of it. */
bool run_readings_value(const struct run_readings *readings, const struct figure *figure,
			uint64_t over_ns, double *ret_value);

#endif
