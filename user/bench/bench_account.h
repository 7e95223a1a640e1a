/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's account of runs: a capture of all that the launcher starts, without stacks. One
 * owner thread. */
#ifndef PKBPF_BENCH_BENCH_ACCOUNT_H
#define PKBPF_BENCH_BENCH_ACCOUNT_H

#include "base/error.h"
#include "base/log.h"
#include "bench/bench.h"

struct bench_account;

/* Of the descendants of a process. Errors as those of live_capture_start(). */
int bench_account_start(uint32_t pid, const struct log *log, struct bench_account **ret_account,
			struct error *error);
/* Sleeps until fd is readable or timeout_ms have passed, and takes in what there is. */
int bench_account_wait(struct bench_account *account, int fd, int timeout_ms);
/* Once after each run, which is in bench by then. */
int bench_account_cut(struct bench_account *account, const struct bench *bench);
/* Ends the capture, and completes the figures of the runs. */
int bench_account_finish(struct bench_account *account, struct bench *bench);
void bench_account_free(struct bench_account *account); /* NULL is fine */

#endif
