/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands of which none is as good as another in everything: time against memory against columns
 * of the user. */
#ifndef PKBPF_BENCH_BENCH_TRADEOFF_H
#define PKBPF_BENCH_BENCH_TRADEOFF_H

#include "bench/bench.h"

/* The main figure, the peak RSS, and columns. */
#define BENCH_GOALS_MAX (2 + BENCH_COLUMNS_MAX)

struct bench_goal {
	enum bench_figure figure;
	bool higher;   /* is better */
	uint32_t best; /* variant with the best median */
};

struct bench_tradeoff {
	struct bench_goal goals[BENCH_GOALS_MAX];
	size_t goal_count; /* 0: there is nothing to choose from */
	/* Pareto: no other variant is as good in all of the goals, and better in one. Beyond the
	 * scatter: intervals of medians that overlap are equal. */
	bool is_chosen[BENCH_VARIANTS_MAX];
};

/* Of variants with parameters, or with columns of a known direction. -ENOMEM. */
int bench_tradeoff_find(const struct bench *bench, struct bench_tradeoff *ret_tradeoff);
/* In words; "": there is nothing to choose from, or no memory. */
void bench_tradeoff_text(const struct bench *bench, char *ret_text, size_t size);

#endif
