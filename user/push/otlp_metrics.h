/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics as OpenTelemetry has them. */
#ifndef PKBPF_PUSH_OTLP_METRICS_H
#define PKBPF_PUSH_OTLP_METRICS_H

#include <stdint.h>
#include <stdio.h>

/* Writes metrics of our own Prometheus text as a request of OTLP in JSON: counters are cumulative
 * sums since start, gauges are those of now. */
void otlp_metrics_write(const char *text, const char *host, int64_t start_unix_ns,
			int64_t now_unix_ns, FILE *out);

#endif
