// SPDX-License-Identifier: BSD-2-Clause
/* Finds the holders of contended file locks, from /proc/locks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "process/relation/relation_writer.h"

/* Descriptors of a process searched for the name of a locked file. */
#define FDS_MAX	  1024
#define LINES_MAX 65536
/* Of all processes. */
#define SEARCHES_MAX 64

/* "12: -> FLOCK  ADVISORY  WRITE 812 fd:00:1234 0 EOF"; false: another line. */
static bool parse(const char *line, uint64_t *ret_number, bool *ret_waits, uint32_t *ret_pid,
		  uint64_t *ret_inode)
{
	char first[16], second[16], third[16];
	unsigned int major_number, minor_number;
	int pid, length = 0;

	if (sscanf(line, "%" SCNu64 ": %n", ret_number, &length) < 1 || !length)
		return false;
	line += length;
	*ret_waits = strncmp(line, "-> ", 3) == 0;
	line += *ret_waits ? 3 : 0;
	if (sscanf(line, "%15s %15s %15s %d %x:%x:%" SCNu64, first, second, third, &pid,
		   &major_number, &minor_number, ret_inode) != 7)
		return false;
	/* Open file description locks have no process. */
	*ret_pid = pid > 0 ? (uint32_t)pid : 0;
	return true;
}

/* From what the kernel says of the descriptor: to ask for the file's status may wait for a server
 * that does not answer. */
static bool is_of_file(uint32_t pid, int fd, uint64_t inode)
{
	_cleanup_fclose_ FILE *file = NULL;
	uint64_t here, number;
	char line[256];
	bool waits;
	uint32_t holder;

	snprintf(line, sizeof(line), "/proc/%u/fdinfo/%d", pid, fd);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file)) {
		/* Since 5.14; before, that of its locks. */
		if (sscanf(line, "ino: %" SCNu64, &here) == 1)
			return here == inode;
		if (strncmp(line, "lock:", 5) == 0 &&
		    parse(line + 5, &number, &waits, &holder, &here))
			return here == inode;
	}
	return false;
}

static bool find_path(uint32_t pid, uint64_t inode, char *ret_path, size_t size)
{
	char name[64];

	for (int fd = 0; fd < FDS_MAX; fd++) {
		ssize_t length;

		if (!is_of_file(pid, fd, inode))
			continue;
		snprintf(name, sizeof(name), "/proc/%u/fd/%d", pid, fd);
		length = readlink(name, ret_path, size - 1);
		ret_path[length > 0 ? length : 0] = '\0';
		return length > 0;
	}
	ret_path[0] = '\0';
	return false;
}

/* The last path that was looked for: many threads may wait for one lock. */
struct lock_path {
	uint32_t pid, holder;
	uint64_t inode;
	unsigned int searches;
	char path[128];
};

static const char *path_of(struct lock_path *last, uint32_t pid, uint32_t holder, uint64_t inode)
{
	if (last->pid == pid && last->holder == holder && last->inode == inode)
		return last->path;
	last->pid = pid;
	last->holder = holder;
	last->inode = inode;
	last->path[0] = '\0';
	if (last->searches++ < SEARCHES_MAX &&
	    !find_path(pid, inode, last->path, sizeof(last->path)))
		find_path(holder, inode, last->path, sizeof(last->path));
	return last->path;
}

void relation_file_locks(const struct relation_writer *writer)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/locks", "re");
	uint64_t number, held_number = 0;
	struct lock_path last = {0};
	uint32_t pid, holder = 0;
	uint64_t inode;
	char line[256];
	bool waits;

	for (int i = 0; file && i < LINES_MAX && fgets(line, sizeof(line), file); i++) {
		if (!parse(line, &number, &waits, &pid, &inode))
			continue;
		if (!waits) {
			holder = pid;
			held_number = number;
			continue;
		}
		if (!pid || !holder || number != held_number || !relation_writer_wants(writer, pid))
			continue;
		relation_write(writer,
			       &(struct relation_view){.relation = PKBPF_RELATION_FILE_LOCK,
						       .pid = pid,
						       .other_pid = holder,
						       .count = 1,
						       .text = path_of(&last, pid, holder, inode)});
	}
}
