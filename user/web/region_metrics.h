/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics of regions by name, added up slice by slice over all processes. The number of names is
 * bounded. The caller's lock guards it. */
#ifndef PKBPF_WEB_REGION_METRICS_H
#define PKBPF_WEB_REGION_METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/array.h"
#include "rows/region_list.h"

#define REGION_METRICS_SUMS    4
#define REGION_METRICS_LENGTHS 4

struct region_metric {
	char name[PKBPF_SPAN_NAME];
	double sums[REGION_METRICS_SUMS];
	double lengths[REGION_METRICS_LENGTHS]; /* seconds, of the slice that it was last in */
	uint64_t seen;				/* number of that slice */
	int64_t begin_unix_ns;			/* from which its counters count */
	bool has_limit;				/* violations were counted */
};

struct region_metrics {
	ARRAY_OF(struct region_metric) regions; /* the first is "other" */
	uint64_t slices;
	int64_t slice_unix_ns; /* begin of the last one */
};

/* Without memory a part of it is missing. */
void region_metrics_add(struct region_metrics *metrics, const struct profile *slice);
/* with_begins: as metrics_write(). */
void region_metrics_write(const struct region_metrics *metrics, bool with_begins, FILE *out);
void region_metrics_done(struct region_metrics *metrics);

#endif
