/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics of network peers, added up slice by slice over all processes. The number of peers is
 * bounded. The caller's lock guards it. */
#ifndef PKBPF_WEB_PEER_METRICS_H
#define PKBPF_WEB_PEER_METRICS_H

#include <stdio.h>

#include "base/array.h"
#include "rows/peers.h"

#define PEER_METRICS_SUMS 9

struct peer_metric {
	char name[PEER_TEXT_SIZE];
	double sums[PEER_METRICS_SUMS];
	uint64_t response_p99_ns; /* the worst process's, of the slice it was last in */
	uint64_t seen;		  /* number of that slice */
};

struct peer_metrics {
	ARRAY_OF(struct peer_metric) peers; /* the first is "other" */
	uint64_t slices;
};

/* Without memory a part of it is missing. */
void peer_metrics_add(struct peer_metrics *metrics, const struct profile *slice);
void peer_metrics_write(const struct peer_metrics *metrics, FILE *out);
void peer_metrics_done(struct peer_metrics *metrics);

#endif
