/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics in the text format of Prometheus (0.0.4), added up slice by slice. Groups are containers
 * and units. The caller's lock guards it. */
#ifndef PKBPF_WEB_METRICS_H
#define PKBPF_WEB_METRICS_H

#include <stdio.h>

#include "base/array.h"
#include "rows/resource_rows.h"
#include "store/store.h"
#include "web/peer_metrics.h"
#include "web/region_metrics.h"

#define METRIC_FIGURES	 31
#define METRIC_NAME_SIZE 129

struct metric_group {
	char name[METRIC_NAME_SIZE];
	double sums[METRIC_FIGURES]; /* of gauges the last value */
	bool known[METRIC_FIGURES];
	uint64_t seen;	       /* number of the slice it was last in */
	int64_t begin_unix_ns; /* from which its counters count */
};

struct metrics {
	ARRAY_OF(struct metric_group) groups; /* the first is "other" */
	struct peer_metrics peers;
	struct region_metrics regions;
	uint64_t slices, dropped;
	int64_t slice_unix_ns; /* begin of the last one */
	unsigned int detail_step;
	bool config_failed; /* the last time that it was read */
	uint64_t expected, recorded;
	uint64_t counters[PKBPF_COUNTER_COUNT];
	double collector_cpu_ns, bpf_cpu_ns;
	uint64_t resident_bytes, map_bytes;
	double busy_percent; /* of the last slice, < 0 unknown */
	uint64_t memory_bytes, memory_available_bytes;
};

/* rows: of a slice, by container. Without memory a part of it is missing. */
void metrics_add(struct metrics *metrics, const struct resource_rows *rows);
/* with_begins: before each counter of a group since when it counts, as a comment, for
 * otlp_metrics.h.
 */
void metrics_write(const struct metrics *metrics, const struct store_state *store, bool with_begins,
		   FILE *out);
void metrics_done(struct metrics *metrics);

#endif
