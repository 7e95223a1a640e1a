/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process may open: files that targets name are opened with their rights, not with ours. */
#ifndef PKBPF_PROCESS_FILE_FILE_RIGHTS_H
#define PKBPF_PROCESS_FILE_FILE_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process with more has the rights of these. */
#define FILE_RIGHTS_MAX_GROUPS 64

struct file_rights {
	uint32_t uid, gid; /* for files (fsuid, fsgid) */
	uint32_t groups[FILE_RIGHTS_MAX_GROUPS];
	size_t group_count;
};

/* Those of the process behind a directory /proc/PID. Negative errno: it is gone, or cannot be
 * read. */
int file_rights_read(int process_fd, struct file_rights *ret_rights);
/* Of the text of /proc/PID/status. -EBADMSG. */
int file_rights_parse(const char *status, struct file_rights *ret_rights);

#endif
