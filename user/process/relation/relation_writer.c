// SPDX-License-Identifier: BSD-2-Clause
/* Writes relations, and finds processes. */
#include "process/relation/relation_writer.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

static int compare_u32(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

bool relation_writer_wants(const struct relation_writer *writer, uint32_t pid)
{
	return writer->pid_count &&
	       bsearch(&pid, writer->pids, writer->pid_count, sizeof(*writer->pids), compare_u32);
}

void relation_read_comm(uint32_t pid, char comm[PKBPF_COMM_SIZE + 1])
{
	_cleanup_close_ int fd = -1;
	char path[64];
	ssize_t size;

	memset(comm, 0, PKBPF_COMM_SIZE + 1);
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? 0 : read(fd, comm, PKBPF_COMM_SIZE);
	comm[size > 0 ? size : 0] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
}

void relation_write(const struct relation_writer *writer, const struct relation_view *view)
{
	struct relation_view full = *view;

	full.time_ns = writer->time_ns;
	if (full.other_pid && !full.other_comm[0])
		relation_read_comm(full.other_pid, full.other_comm);
	relation_event_encode(writer->buffer, &full);
}

size_t relation_list_pids(uint32_t *pids, size_t max)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;

	if (!proc)
		return 0;
	while (count < max && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			pids[count++] = (uint32_t)strtoul(entry->d_name, NULL, 10);
	closedir(proc);
	qsort(pids, count, sizeof(*pids), compare_u32);
	return count;
}
