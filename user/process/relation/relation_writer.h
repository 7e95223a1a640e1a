/* SPDX-License-Identifier: BSD-2-Clause */
/* Relations of processes that procfs and the like tell, as records. */
#ifndef PKBPF_PROCESS_RELATION_RELATION_WRITER_H
#define PKBPF_PROCESS_RELATION_RELATION_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "event/resource_event.h"

struct relation_writer {
	struct event_buffer *buffer;
	uint64_t time_ns;
	const uint32_t *pids; /* about which relations are told, ascending */
	size_t pid_count;
};

bool relation_writer_wants(const struct relation_writer *writer, uint32_t pid);
/* Without memory a relation is not told. Reads other_comm when it is empty. */
void relation_write(const struct relation_writer *writer, const struct relation_view *view);
/* Of a process that lives; "" when it does not. */
void relation_read_comm(uint32_t pid, char comm[PKBPF_COMM_SIZE + 1]);
/* Processes there are, ascending; at most `max`. */
size_t relation_list_pids(uint32_t *pids, size_t max);

/* Each tells what there is of its subject now. */
void relation_file_locks(const struct relation_writer *writer);
/* Limits of block I/O of their cgroups. */
void relation_io_limits(const struct relation_writer *writer);
/* Scripts that interpreters run. */
void relation_scripts(const struct relation_writer *writer);
/* Looks at their sockets several times, some 100 ms in all. */
void relation_sockets(const struct relation_writer *writer);

#endif
