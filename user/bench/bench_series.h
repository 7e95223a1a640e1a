/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the commands of a benchmark as often as it takes, in an order that its seed determines. */
#ifndef PKBPF_BENCH_BENCH_SERIES_H
#define PKBPF_BENCH_BENCH_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bench/bench.h"
#include "bench/bench_account.h"
#include "bench/bench_counters.h"
#include "bench/launcher.h"

/* With --precision: looks at 10, 20, 40 and 80 runs, each at its part of the risk. */
#define BENCH_LOOKS	 4
#define BENCH_FIRST_LOOK 10
#define BENCH_NO_COMMAND UINT32_MAX

struct bench_series_options {
	struct launcher *launcher;
	struct bench_account *account; /* NULL: none */
	uint32_t runs;		       /* of each variant */
	uint32_t warmup;	       /* before these */
	uint64_t time_ns;	       /* in all; 0: no limit */
	double precision;    /* of the median, as a part; 0: as many runs as are asked for */
	uint64_t timeout_ns; /* of a run; 0: none */
	bool ignore_failure;
	bool blocks;	  /* all runs of a variant, then those of the next */
	bool drop_caches; /* before each run: of files, and of directories and inodes */
	/* Commands of the launcher: variant i is command i, and these begin with the one for
	 * variant 0. */
	uint32_t setup, prepare, conclude, columns;
	int output_fd, answer_fd;	 /* with columns: as in struct launcher_options */
	int stop_fd;			 /* readable: end early, and keep what there is */
	struct bench_counters *counters; /* NULL: none */
};

struct bench_observer {
	/* Before each run; out of how many, as far as that is known (0: it is not). */
	void (*progress)(void *context, uint32_t number, uint32_t count);
	void *context;
};

enum bench_end {
	BENCH_END_COMPLETE,
	BENCH_END_STOPPED,     /* by stop_fd */
	BENCH_END_NOT_STARTED, /* a command cannot be started: error, and *ret_failure its errno */
	BENCH_END_FAILED,      /* a command failed, or took too long: error */
	BENCH_END_BROKEN,      /* the launcher or the account is: error */
};

/* The figures are complete after bench_account_finish(). */
enum bench_end bench_series_run(struct bench *bench, const struct bench_series_options *options,
				const struct bench_observer *observer, int *ret_failure,
				struct error *error);

/* Variants in the order of a round, by the seed alone. ret_order has room for count. */
void bench_order(uint64_t seed, uint32_t round, uint32_t count, uint32_t *ret_order);

#endif
