/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of figures of every command: "wall>100ms", "wall.p99>1s", "peak_rss.max>64MiB". */
#ifndef PKBPF_BENCH_BENCH_LIMIT_H
#define PKBPF_BENCH_BENCH_LIMIT_H

#include "base/error.h"
#include "bench/bench_gate.h"
#include "finding/quantity.h"

enum bench_statistic {
	BENCH_MEDIAN,
	BENCH_MEAN,
	BENCH_MIN,
	BENCH_MAX,
	BENCH_P95,
	BENCH_P99,
	BENCH_STATISTICS,
};

struct bench_limit {
	enum bench_figure figure;
	enum bench_statistic statistic; /* the median unless another is named */
	enum condition_comparison comparison;
	double value;
};

/* Columns are those of bench; NULL: there are none. -EINVAL with the sentence. */
int bench_limit_parse(const char *text, const struct bench *bench, struct bench_limit *ret_limit,
		      struct error *error);
/* Of a variant. The limit of a median is exceeded when its whole interval is beyond it; when the
 * limit lies within the interval nobody can tell, which is said, and passes. Not checked: the
 * figure or statistic is not known. -ENOMEM. */
int bench_limit_check(const struct bench_limit *limit, const char *text, const struct bench *bench,
		      uint32_t variant, struct bench_gate_result *ret_result);

#endif
