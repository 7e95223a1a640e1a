/* SPDX-License-Identifier: BSD-2-Clause */
/* What already runs, read from procfs and encoded as the records that would have announced it. */
#ifndef PKBPF_PROCESS_SNAPSHOT_H
#define PKBPF_PROCESS_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "event/encoder.h"

struct snapshot_stats {
	size_t processes, mappings;
	size_t vanished;   /* ended while being read: normal */
	size_t unreadable; /* announced without mappings: not permitted to read them */
};

/*
 * Appends for each process (all of them, or those in pids[]): FORK from its parent, COMM, the
 * thread FORKs when more than one thread exists, and MAPPING records (executable mappings only),
 * all with flag FROM_SNAPSHOT and time_ns. Processes that vanish meanwhile are left out and
 * counted; zombies are left out. Switch on live records first and let time_ns be no later than
 * that: what happens while procfs is read is then replayed on top. proc_path: "/proc" or a test
 * folder. On error (-ENOENT, -EMFILE, -ENOMEM, …) the buffer is as it was.
 */
int snapshot_processes(const char *proc_path, const uint32_t *pids, size_t pid_count,
		       uint64_t time_ns, struct event_buffer *buffer,
		       struct snapshot_stats *ret_stats);

#endif
