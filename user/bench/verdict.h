/* SPDX-License-Identifier: BSD-2-Clause */
/* Two variants: is one slower, by how much, and how sure is that. */
#ifndef PKBPF_BENCH_VERDICT_H
#define PKBPF_BENCH_VERDICT_H

#include "bench/bench.h"
#include "statistics/rank_test.h"

enum bench_verdict {
	BENCH_UNKNOWN, /* none of the others: too few runs for this scatter */
	BENCH_SAME,    /* the interval lies within the threshold */
	BENCH_SLOWER,  /* the interval leaves 0 out, and the estimate is beyond the threshold */
	BENCH_FASTER,
};

extern const char *const bench_verdict_names[];

struct bench_comparison {
	enum bench_figure figure;
	size_t counts[2]; /* of runs; 0: not known of one of them, and the rest is unset */
	double medians[2];
	bool has_ratio; /* all values are above 0 */
	double ratio;	/* new / base - 1, and its interval: Hodges and Lehmann, of logarithms */
	struct interval ratio_interval;
	double change; /* new - base */
	struct interval change_interval;
	struct rank_test test; /* Mann and Whitney */
	enum bench_verdict verdict;
	uint32_t more_runs; /* of each that might settle an unknown one; 0: unknown */
};

/* Variants of two benchmarks, or of one. */
struct bench_sides {
	const struct bench *base;
	uint32_t base_variant;
	const struct bench *new;
	uint32_t new_variant;
};

struct bench_judgement {
	double threshold; /* as a part: smaller changes are none */
	double risk;	  /* of each interval */
};

/* -ENOMEM. */
int bench_compare(const struct bench_sides *sides, enum bench_figure figure,
		  const struct bench_judgement *judgement, struct bench_comparison *ret_comparison);
/* The interval leaves 0 out. */
bool bench_is_significant(const struct bench_comparison *comparison);

#define BENCH_SENTENCE_SIZE 512
/* "slower by 10.1 % (9.7 % to 10.6 %)" */
void bench_verdict_text(const struct bench_comparison *comparison,
			const struct bench_judgement *judgement, char *ret_text, size_t size);
/* "+9.8 ms: +9.7 ms on CPU, +0.1 ms disk"; "": nothing is certain. -ENOMEM. */
int bench_verdict_states(const struct bench_sides *sides, const struct bench_judgement *judgement,
			 char *ret_text, size_t size);
/* "+10.1 %" */
void bench_percent_text(double part, char *ret_text, size_t size);

#endif
