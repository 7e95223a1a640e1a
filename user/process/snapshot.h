/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads running processes from procfs and encodes them as the records of their start. */
#ifndef PKBPF_PROCESS_SNAPSHOT_H
#define PKBPF_PROCESS_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "event/encoder.h"

struct snapshot_stats {
	size_t processes, mappings;
	size_t vanished;   /* exited while being read: normal */
	size_t unreadable; /* recorded without mappings: no permission to read them */
};

/* Appends for each process (all, or those in pids[]): FORK from its parent, COMM, FORKs of
 * further threads, and MAPPING records (executable mappings only), all with flag FROM_SNAPSHOT
 * and time_ns. Leaves out and counts processes that exit meanwhile; leaves out zombies. Enable
 * live records first, and let time_ns be no later than that: events during the snapshot are then
 * replayed on top. proc_path: "/proc" or a test directory. On error (-ENOENT, -EMFILE, -ENOMEM,
 * …) the buffer is unchanged. */
int snapshot_processes(const char *proc_path, const uint32_t *pids, size_t pid_count,
		       uint64_t time_ns, struct event_buffer *buffer,
		       struct snapshot_stats *ret_stats);

#endif
