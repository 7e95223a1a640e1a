/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures of --column: a command prints a number for each run. */
#ifndef PKBPF_BENCH_BENCH_COLUMN_H
#define PKBPF_BENCH_BENCH_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "bench/bench.h"

#define BENCH_COLUMN_NAME_SIZE 32

struct bench_column_spec {
	char name[BENCH_COLUMN_NAME_SIZE];
	enum bench_better better;
	const char *command; /* part of the text */
};

/* "accuracy:higher=COMMAND". -EINVAL with the sentence. */
int bench_column_parse(const char *text, struct bench_column_spec *ret_spec, struct error *error);
/* A lower-case word that files have for no other figure. */
bool bench_column_is_name(const char *name);
/* What the command printed: one number, and blanks around it. */
bool bench_column_value(const char *text, double *ret_value);

#endif
