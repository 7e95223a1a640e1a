/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel has counted of each disk since the machine started (Documentation/admin-guide/
 * iostats.rst). Partitions are left out: their disk has what they did. */
#ifndef PKBPF_MACHINE_DISK_STATS_H
#define PKBPF_MACHINE_DISK_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISK_NAME_SIZE 32
#define DISKS_MAX      256

struct disk_reading {
	char name[DISK_NAME_SIZE];
	uint64_t reads, writes; /* requests that have ended */
	uint64_t read_bytes, written_bytes;
	uint64_t busy_ms;  /* with one request or more; begins again at 2^32, as this: */
	uint64_t queue_ms; /* of each request, added up */
};

/* Of the text of /proc/diskstats, those that had a request ever and that are wanted (NULL: all);
 * what is no line of it is left out, and so are more than DISKS_MAX. */
size_t disk_stats_parse(const char *text, bool (*is_wanted)(const char *root, const char *name),
			const char *root, struct disk_reading ret_disks[DISKS_MAX]);
/* Disks, not partitions. root: below it /proc and /sys are. */
size_t disk_stats_read(const char *root, struct disk_reading ret_disks[DISKS_MAX]);

#endif
