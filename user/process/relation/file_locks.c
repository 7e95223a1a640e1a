// SPDX-License-Identifier: BSD-2-Clause
/* Finds the holders of contended file locks, from /proc/locks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "process/relation/relation_writer.h"

/* Descriptors of a process searched for the name of a locked file. */
#define FDS_MAX	  1024
#define LINES_MAX 65536

/* "12: -> FLOCK  ADVISORY  WRITE 812 fd:00:1234 0 EOF"; false: another line. */
static bool parse(const char *line, unsigned long *ret_number, bool *ret_waits, uint32_t *ret_pid,
		  uint64_t *ret_inode)
{
	char first[16], second[16], third[16];
	unsigned int major_number, minor_number;
	int pid, length = 0;

	if (sscanf(line, "%lu: %n", ret_number, &length) < 1 || !length)
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

static void find_path(uint32_t pid, uint64_t inode, char *ret_path, size_t size)
{
	char name[64], path[128];
	struct stat status;

	ret_path[0] = '\0';
	for (int fd = 0; fd < FDS_MAX; fd++) {
		ssize_t length;

		snprintf(name, sizeof(name), "/proc/%u/fd/%d", pid, fd);
		if (stat(name, &status) || status.st_ino != inode)
			continue;
		length = readlink(name, path, sizeof(path) - 1);
		if (length <= 0)
			return;
		path[length] = '\0';
		snprintf(ret_path, size, "%s", path);
		return;
	}
}

void relation_file_locks(const struct relation_writer *writer)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/locks", "re");
	unsigned long number, held_number = 0;
	uint32_t pid, holder = 0;
	uint64_t inode;
	char line[256];
	bool waits;

	for (int i = 0; file && i < LINES_MAX && fgets(line, sizeof(line), file); i++) {
		char path[128];

		if (!parse(line, &number, &waits, &pid, &inode))
			continue;
		if (!waits) {
			holder = pid;
			held_number = number;
			continue;
		}
		if (!pid || !holder || number != held_number || !relation_writer_wants(writer, pid))
			continue;
		find_path(pid, inode, path, sizeof(path));
		relation_write(writer, &(struct relation_view){.relation = PKBPF_RELATION_FILE_LOCK,
							       .pid = pid,
							       .other_pid = holder,
							       .count = 1,
							       .text = path});
	}
}
