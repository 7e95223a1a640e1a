/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine that a benchmark ran on, and what about it makes runs differ. */
#ifndef PKBPF_BENCH_ENVIRONMENT_H
#define PKBPF_BENCH_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"

struct environment_item {
	char *name, *value; /* one line; not escaped */
	bool is_identity;   /* results of machines that differ in it cannot be compared */
};

struct environment {
	ARRAY_OF(struct environment_item) items;
	ARRAY_OF(char *) dangers;	/* sentences */
	double load_before, load_after; /* runnable threads, mean of a minute; < 0: unknown */
	double throttles_before, throttles_after; /* of all CPUs, since boot; < 0: unknown */
	double cpus;
};

void environment_done(struct environment *environment);
/* Before the first run. root: "" of this machine. -ENOMEM. */
int environment_read(struct environment *environment, const char *root);
/* After the last one: completes the dangers. -ENOMEM. */
int environment_finish(struct environment *environment, const char *root);
/* For those that a file has. false: out of memory. */
bool environment_add(struct environment *environment, const char *name, const char *value,
		     bool is_identity);
bool environment_add_danger(struct environment *environment, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* NULL: not known. */
const char *environment_find(const struct environment *environment, const char *name);

#endif
