/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters outside of the record stream, reported as the difference of two readings. */
#ifndef PKBPF_PROCESS_RELATION_PROCESS_COUNTS_H
#define PKBPF_PROCESS_RELATION_PROCESS_COUNTS_H

#include "process/relation/relation_writer.h"

struct process_counts;

/* Reads the counters of these processes and of the others (`all`: there are no others); NULL:
 * out of memory. */
struct process_counts *process_counts_new(const uint32_t *pids, size_t count, bool all);
/* Writes the differences since then: read and write system calls, failed connections, bytes
 * moved by other processes, OOM kills. */
void process_counts_write(const struct process_counts *counts,
			  const struct relation_writer *writer);
void process_counts_free(struct process_counts *counts);

#endif
