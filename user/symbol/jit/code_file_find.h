/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the perf map or jitdump of a process, and decides whether to believe it. */
#ifndef PKBPF_SYMBOL_JIT_CODE_FILE_FIND_H
#define PKBPF_SYMBOL_JIT_CODE_FILE_FIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "symbol/symbolizer.h"

struct code_file_search {
	const struct symbolizer_options *options;
	struct process_table *processes;
	const struct process *process;
};

/*
 * A read-only descriptor, which the caller closes. Searched in turn, of a living process in its own
 * root and under its innermost pid, and owned by its user or root: /tmp/perf-PID.map, a mapped
 * jit-PID.dump, /tmp/jit-PID.dump; then, as of a process that has ended, our own
 * /tmp/perf-PID.map and /tmp/jit-PID.dump, owned by root, by us, or by options->user_uid.
 * -ENOENT: there is none; -ESTALE: it was written before the program began or after it ended;
 * -EPERM and others: it is not believed or cannot be read.
 */
int code_file_find(const struct code_file_search *search, struct stat *ret_stat);

#endif
