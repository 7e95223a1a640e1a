/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU time, context switches and CPU samples of a row. */
#ifndef PKBPF_ROWS_PART_ROW_CPU_H
#define PKBPF_ROWS_PART_ROW_CPU_H

#include "rows/part/row_part.h"

/* CPUs were sampled. */
#define ROW_HAS_SAMPLES ROW_HAS_KIND(PKBPF_PROFILE_CPU)

struct row_cpu {
	uint64_t total_ns, user_ns, system_ns;
	double share;			 /* percent of one CPU */
	uint64_t voluntary, involuntary; /* context switches */
	uint64_t samples, periods;	 /* what they stand for */
	uint64_t energy_mj;
};

extern const struct row_part row_cpu_part;

/* Without the kernel's account, the time between waits is the CPU time, or that of the samples.
 * Before the rows are finished. */
void row_cpu_estimate(const struct resource_rows *rows, struct resource_row *row);

#endif
