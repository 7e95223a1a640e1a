/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs far from the others of their variant, and what of their account is. They are kept. */
#ifndef PKBPF_BENCH_OUTLIER_H
#define PKBPF_BENCH_OUTLIER_H

#include "bench/bench.h"

#define OUTLIER_PARTS 3
/* Distance from the median in standard deviations (of the median distance): Iglewicz and Hoaglin
 * 1993. */
#define OUTLIER_Z 3.5

struct outlier {
	uint32_t run;  /* index */
	double change; /* of wall time, against the median; ns */
	double part;   /* of the median */
	struct outlier_part {
		enum bench_figure figure;
		double change;	/* against the median of the figure; ns */
	} parts[OUTLIER_PARTS]; /* what explains it, the largest first */
	size_t part_count;
	double major_faults; /* more than in the median run */
};

struct outliers {
	struct outlier *items;
	size_t count, capacity;
};

/* The caller frees items. -ENOMEM. */
int outliers_find(const struct bench *bench, struct outliers *ret_outliers);
/* "+31 %, +240 ms: +212 ms run queue (waiting for a CPU)" */
void outlier_text(const struct outlier *outlier, char *ret_text, size_t size);

/* Rank correlation of wall time with the order of the runs, over all variants: above 0.5 runs get
 * slower all the time (Spearman). 0: it may be chance. */
double bench_trend(const struct bench *bench);

#endif
