/* SPDX-License-Identifier: BSD-2-Clause */
/* What `pkbpf bench` is asked for, and its run. */
#ifndef PKBPF_CLI_BENCH_RUN_H
#define PKBPF_CLI_BENCH_RUN_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/bench_plan.h"
#include "cli/cli_options.h"
#include "cli/console.h"
#include "cli/whole_outputs.h"

#define BENCH_LIMITS_MAX 64

struct bench_options {
	struct whole_outputs outputs;
	uint32_t runs, warmup;
	bool has_warmup, has_seed, has_gate;
	uint64_t time_ns, timeout_ns, seed;
	double precision, threshold, gate;
	const char *limits[BENCH_LIMITS_MAX]; /* --fail-if, checked */
	size_t limit_count;
	struct bench_matrix matrix;
	const char *setup, *prepare, *conclude;
	const char *columns[BENCH_COLUMNS_MAX]; /* --column, checked */
	size_t column_count;
	const char *baseline, *save_baseline;
	const char *unit; /* region; NULL: whole runs */
	bool cross_machine, strict_environment, drop_caches, explain;
	uint32_t profiled; /* runs with stacks; 0: the default */
	uint32_t order;	   /* 1: blocks */
	bool ignore_failure, show_output, no_aslr, bare;
	bool has_cpus;
	cpu_set_t cpus;
};

/* Runs the commands, compares them and writes what was asked for. An exit status; tells the console
 * what failed. */
int bench_run(const struct cli_options *options, struct console *console);

#endif
