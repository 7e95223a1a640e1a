// SPDX-License-Identifier: BSD-2-Clause
/* Reads /proc/PID/status and stat. */
#include "process/procfs_status.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file_io.h"
#include "base/named_line.h"

#define STATUS_MAX_BYTES 65536

uint32_t procfs_process_of_thread(uint32_t tid)
{
	_cleanup_free_ char *status = NULL;
	char path[64];
	size_t size;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", tid);
	if (file_read_all(AT_FDCWD, path, STATUS_MAX_BYTES, &status, &size))
		return 0;
	return (uint32_t)named_number(status, "Tgid:");
}

uint64_t procfs_start_ticks(const char *procfs, uint32_t tid)
{
	_cleanup_free_ char *text = NULL;
	uint64_t ticks;
	const char *after_comm;
	char path[4096];
	size_t size;

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/stat", procfs, tid);
	if (file_read_all(AT_FDCWD, path, STATUS_MAX_BYTES, &text, &size))
		return 0;
	/* The comm may itself contain parentheses and blanks: the last parenthesis ends it. */
	after_comm = strrchr(text, ')');
	if (!after_comm || sscanf(after_comm,
				  ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
				  "%*d %*d %*d %*d %" SCNu64,
				  &ticks) != 1)
		return 0;
	return ticks;
}

/* "NSpid:\t4711\t1": ours first, the process's own last. */
static uint32_t read_inner_pid(const char *status, uint32_t pid)
{
	const char *at = named_line(status, "NSpid:"), *end = at ? strchr(at, '\n') : NULL;

	while (at && (!end || at < end)) {
		char *after;
		unsigned long number = strtoul(at, &after, 10);

		if (after == at || (end && after > end))
			break;
		pid = (uint32_t)number;
		at = after;
	}
	return pid;
}

bool procfs_status_read(const char *procfs, uint32_t pid, struct procfs_status *ret_status)
{
	_cleanup_free_ char *text = NULL;
	struct procfs_status status = {0};
	const char *uids, *gids, *caught;
	char path[4096];
	size_t size;

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/status", procfs, pid);
	if (file_read_all(AT_FDCWD, path, STATUS_MAX_BYTES, &text, &size))
		return false;
	uids = named_line(text, "Uid:");
	gids = named_line(text, "Gid:");
	if (!uids || sscanf(uids, "%u %u", &status.real_uid, &status.effective_uid) != 2)
		return false;
	if (gids && sscanf(gids, "%*u %u", &status.effective_gid) != 1)
		return false;
	caught = named_line(text, "SigCgt:");
	status.caught = caught ? strtoull(caught, NULL, 16) : 0;
	status.inner_pid = read_inner_pid(text, pid);
	*ret_status = status;
	return true;
}
