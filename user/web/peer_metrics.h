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
	int64_t begin_unix_ns;	  /* from which its counters count */
};

struct peer_metrics {
	ARRAY_OF(struct peer_metric) peers; /* the first is "other" */
	uint64_t slices;
	int64_t slice_unix_ns; /* begin of the last one */
};

/* Without memory a part of it is missing. */
void peer_metrics_add(struct peer_metrics *metrics, const struct profile *slice);
/* with_begins: as metrics_write(). */
void peer_metrics_write(const struct peer_metrics *metrics, bool with_begins, FILE *out);
void peer_metrics_done(struct peer_metrics *metrics);

#endif
