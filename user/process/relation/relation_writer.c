// SPDX-License-Identifier: BSD-2-Clause
/* Writes relations, and finds processes. */
#include "process/relation/relation_writer.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
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

size_t relation_list_pids(const char *folder, uint32_t **ret_pids)
{
	ARRAY_OF(uint32_t) pids = {0};
	DIR *proc = opendir(folder);
	struct dirent *entry;
	uint32_t *pid;

	*ret_pids = NULL;
	if (!proc)
		return 0;
	while ((entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		pid = array_add(&pids);
		if (!pid)
			break;
		*pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
	}
	closedir(proc);
	if (pids.count)
		qsort(pids.items, pids.count, sizeof(*pids.items), compare_u32);
	*ret_pids = pids.items;
	return pids.count;
}

/* Listed, since numbers may have gaps of any size. */
size_t relation_each_socket(uint32_t pid, size_t max, void (*take)(void *context, uint64_t inode),
			    void *context)
{
	char path[64], link[64];
	struct dirent *entry;
	uint64_t inode;
	size_t count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	folder = opendir(path);
	if (!folder)
		return 0;
	while (count < max && (entry = readdir(folder))) {
		ssize_t length = readlinkat(dirfd(folder), entry->d_name, link, sizeof(link) - 1);

		if (length <= 0)
			continue;
		count++;
		link[length] = '\0';
		if (sscanf(link, "socket:[%" SCNu64 "]", &inode) == 1)
			take(context, inode);
	}
	closedir(folder);
	return count;
}
