/* SPDX-License-Identifier: BSD-2-Clause */
/* A gate for build servers: a change that must not be exceeded. */
#ifndef PKBPF_BENCH_BENCH_GATE_H
#define PKBPF_BENCH_BENCH_GATE_H

#include "bench/verdict.h"

enum bench_gate_outcome {
	BENCH_GATE_PASSED,
	BENCH_GATE_FAILED,	/* slower by more than the limit, and the interval leaves 0 out */
	BENCH_GATE_NOT_CHECKED, /* too few runs */
};

struct bench_gate_result {
	enum bench_gate_outcome outcome;
	char name[256];	     /* of the test case; not escaped */
	char sentence[1024]; /* for people */
};

/* Fails when the estimate is above limit (a part) and the interval leaves 0 out: both size and
 * significance. */
void bench_gate_check(const struct bench_comparison *comparison,
		      const struct bench_judgement *judgement, double limit, const char *label,
		      struct bench_gate_result *ret_result);

#endif
