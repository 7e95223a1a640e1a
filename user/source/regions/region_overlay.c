// SPDX-License-Identifier: BSD-2-Clause
/* Compares the last change of a file with the start of a process. */
#include "source/regions/region_overlay.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/procfs_status.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* By the clock that files have, not before the start and at most a tick later; 0: unknown. */
static uint64_t process_start_ns(uint32_t pid)
{
	uint64_t ticks = procfs_start_ticks("/proc", pid), hz = (uint64_t)sysconf(_SC_CLK_TCK),
		 since_boot_ns;

	if (!ticks)
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
