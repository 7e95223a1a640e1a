/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of the off-CPU source. */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_OPTIONS_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/option_row.h"

struct offcpu_options {
	uint64_t min_block_ns; /* shorter waits count only in the times of threads */
	bool kernel_threads;
	bool wakers; /* capture the waker's stack of each wait */
	/* of one CPU, for all programs attached to events; 0: no limit */
	uint32_t max_overhead_permille;
	bool max_overhead_given; /* then it is a limit of all kinds, and of our own CPU time */
	uint64_t trace_ns; /* waits of this length or more are sent one by one, too; 0: none */
};

/* Rows about struct source_options; the last one has no name. */
extern const struct option_row offcpu_option_rows[];

struct source_options;
void offcpu_options_init(struct source_options *options);

#endif
