/* SPDX-License-Identifier: BSD-2-Clause */
/* What is counted outside of the record stream, and told as the difference of two readings. */
#ifndef PKBPF_PROCESS_RELATION_PROCESS_COUNTS_H
#define PKBPF_PROCESS_RELATION_PROCESS_COUNTS_H

#include "process/relation/relation_writer.h"

struct process_counts;

/* Now, of these processes and those beside them (`all`: there are none beside them); NULL: out of
 * memory. */
struct process_counts *process_counts_new(const uint32_t *pids, size_t count, bool all);
/* Since then: system calls that read and write, failed connections, bytes that others moved, OOM
 * kills. */
void process_counts_write(const struct process_counts *counts,
			  const struct relation_writer *writer);
void process_counts_free(struct process_counts *counts);

#endif
