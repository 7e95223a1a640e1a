/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mean and percentiles of the wall time of regions on one side, with standard errors. A
 * percentile's error combines the error of the share of calls below it, converted to time by the
 * distribution (Woodruff 1952), and the bucket width of 6 %.
 */
#ifndef PKBPF_DIFF_REGION_VALUES_H
#define PKBPF_DIFF_REGION_VALUES_H

#include "diff/resampling.h"

/* Names of regions are cut at this size, NUL included. */
#define REGION_NAME_SIZE 1024
/* A bucket of a region is a series named "INDEX:NAME". */
#define REGION_BUCKET_SIZE (REGION_NAME_SIZE + 12)
void region_bucket_name(char text[REGION_BUCKET_SIZE], uint32_t index, const char *region);

struct region_bucket_series {
	uint32_t region; /* text */
	uint32_t index;
	const struct diff_series *series;
	double calls; /* in all slices */
};

/* Of a measurement, which is borrowed. */
struct region_values {
	const struct measurement *measurement;
	struct resampling *resampling;
	ARRAY_OF(struct region_bucket_series) buckets; /* by region and index */
};

/* false: out of memory; for region_values_done() in any case. */
bool region_values_init(struct region_values *values, const struct measurement *measurement,
			struct resampling *resampling);
void region_values_done(struct region_values *values);
/* Of a region: DIFF_REGION_MEAN, _P50 or _P99, in ns; sum 0: not known. */
void region_values_estimate(const struct region_values *values, enum diff_level level,
			    uint32_t region, struct diff_estimate *ret_estimate);

#endif
