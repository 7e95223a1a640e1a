// SPDX-License-Identifier: BSD-2-Clause
/* Compares the last change of a file with the start of a process. */
#include "source/regions/region_overlay.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_io.h"

#define STAT_MAX_BYTES 2048

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* By the clock that files have, not before the start and at most a tick later; 0: unknown. */
static uint64_t process_start_ns(uint32_t pid)
{
	_cleanup_free_ char *text = NULL;
	uint64_t ticks, hz = (uint64_t)sysconf(_SC_CLK_TCK), since_boot_ns;
	const char *after_comm;
	char path[32];
	size_t size;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	if (file_read_all(AT_FDCWD, path, STAT_MAX_BYTES, &text, &size))
		return 0;
	/* The comm may itself contain parentheses and blanks: the last parenthesis ends it. */
	after_comm = strrchr(text, ')');
	if (!after_comm || sscanf(after_comm,
				  ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
				  "%*d %*d %*d %*d %" SCNu64,
				  &ticks) != 1)
		return 0;
	since_boot_ns = clock_ns(CLOCK_BOOTTIME) - (ticks + 1) * (NS_PER_SECOND / hz);
	return clock_ns(CLOCK_REALTIME) - since_boot_ns;
}

bool region_overlay_has_changed(int fd, uint32_t pid)
{
	uint64_t start_ns;
	struct statfs system;
	struct stat stat;

	if (!pid || fstatfs(fd, &system) || system.f_type != OVERLAYFS_SUPER_MAGIC ||
	    fstat(fd, &stat))
		return false;
	start_ns = process_start_ns(pid);
	return start_ns &&
	       (uint64_t)stat.st_ctim.tv_sec * NS_PER_SECOND + (uint64_t)stat.st_ctim.tv_nsec >
		       start_ns;
}
