/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's account of runs: a capture of all that the launcher starts, without stacks. One
 * owner thread. */
#ifndef PKBPF_BENCH_BENCH_ACCOUNT_H
#define PKBPF_BENCH_BENCH_ACCOUNT_H

#include "base/error.h"
#include "base/log.h"
#include "bench/bench.h"

struct bench_account;

struct bench_account_options {
	uint32_t pid;	     /* whose descendants are accounted */
	const char *region;  /* whose wall times are wanted, too; NULL: none */
	const char *program; /* with these: marked before it is started for the first time */
	const struct log *log;
};

/* What options point to is borrowed until bench_account_free(). Errors as those of
 * live_capture_start(). */
int bench_account_start(const struct bench_account_options *options,
			struct bench_account **ret_account, struct error *error);
/* Sleeps until fd is readable or timeout_ms have passed, and takes in what there is. */
int bench_account_wait(struct bench_account *account, int fd, int timeout_ms);
/* Once after each run, which is in bench by then. */
int bench_account_cut(struct bench_account *account, const struct bench *bench);
/* Ends the capture, and completes the figures of the runs. */
int bench_account_finish(struct bench_account *account, struct bench *bench);
void bench_account_free(struct bench_account *account); /* NULL is fine */

#endif
