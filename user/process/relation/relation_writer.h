/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes relations of processes, from procfs and similar sources, as records. */
#ifndef PKBPF_PROCESS_RELATION_RELATION_WRITER_H
#define PKBPF_PROCESS_RELATION_RELATION_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "event/resource_event.h"

struct relation_writer {
	struct event_buffer *buffer;
	uint64_t time_ns;
	const uint32_t *pids; /* targets of the relations, ascending */
	size_t pid_count;
};

bool relation_writer_wants(const struct relation_writer *writer, uint32_t pid);
/* Writes one relation; without memory it is left out. Reads other_comm when it is empty. */
void relation_write(const struct relation_writer *writer, const struct relation_view *view);
/* comm of a running process; "" when it has exited. */
void relation_read_comm(uint32_t pid, char comm[PKBPF_COMM_SIZE + 1]);
/* Pids of all existing processes, ascending, which the caller frees; NULL with 0: no such folder
 * (/proc), or out of memory. */
size_t relation_list_pids(const char *folder, uint32_t **ret_pids);
/* Calls take with the inode of each socket that a process has open. Returns how many descriptors
 * were read, at most `max`. */
size_t relation_each_socket(uint32_t pid, size_t max, void (*take)(void *context, uint64_t inode),
			    void *context);

/* Each writes the current relations of its kind. */
void relation_file_locks(const struct relation_writer *writer);
/* Block I/O limits of their cgroups. */
void relation_io_limits(const struct relation_writer *writer);
/* Scripts that interpreters run. */
void relation_scripts(const struct relation_writer *writer);
/* Checks their sockets several times, about 100 ms in all. */
void relation_sockets(const struct relation_writer *writer);

#endif
