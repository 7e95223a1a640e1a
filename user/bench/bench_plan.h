/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands to run: those asked for, once for each combination of parameters. */
#ifndef PKBPF_BENCH_BENCH_PLAN_H
#define PKBPF_BENCH_BENCH_PLAN_H

#include "base/error.h"
#include "bench/bench.h"

#define BENCH_PARAMETERS_MAX 8

/* "NAME=a,b,c" */
struct bench_matrix {
	const char *items[BENCH_PARAMETERS_MAX];
	size_t count;
};

struct bench_request {
	const char *const *texts; /* commands of one text each, */
	size_t text_count;
	char *const *words; /* or one that is split already; NULL: none */
	struct bench_matrix matrix;
	/* Beside each run; may have parameters, too; NULL: none. */
	const char *setup, *prepare, *conclude;
	const char *const *columns; /* NAME=COMMAND, checked */
	size_t column_count;
};

/* argv of every command: variants, and behind them setup, prepare and conclude of each, and each
 * column of each. */
struct bench_plan {
	ARRAY_OF(char **) commands;
	uint32_t setup, prepare, conclude, columns; /* where they begin; BENCH_NO_COMMAND: none */
	bool uses_shell;			    /* for a variant */
};

/* Adds the variants and columns to bench. -EINVAL, -ENOMEM with the sentence. */
int bench_plan_make(const struct bench_request *request, struct bench *bench,
		    struct bench_plan *ret_plan, struct error *error);
void bench_plan_done(struct bench_plan *plan);
/* Is it NAME=a,b,c? */
int bench_matrix_check(const char *text, struct error *error);

#endif
