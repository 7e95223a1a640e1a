// SPDX-License-Identifier: BSD-2-Clause
#include "machine/disk_stats.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "machine/sysfs_value.h"

/* Whatever the device's own. */
#define SECTOR_BYTES 512

/* Names are those of drivers; no path is made of others. */
static bool is_name(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/');
}

static bool parse_line(const char *line, struct disk_reading *ret_disk)
{
	struct disk_reading disk = {.name = ""};

	/* Requests, merged ones, sectors and time of reads, then of writes; requests at the moment;
	 * time with requests, and the times of each request together. */
	if (sscanf(line,
		   "%*u %*u %31s %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
		   " %*u %*u %" SCNu64 " %" SCNu64,
		   disk.name, &disk.reads, &disk.read_bytes, &disk.writes, &disk.written_bytes,
		   &disk.busy_ms, &disk.queue_ms) != 7 ||
	    !is_name(disk.name))
		return false;
	disk.read_bytes *= SECTOR_BYTES;
	disk.written_bytes *= SECTOR_BYTES;
	*ret_disk = disk;
	return true;
}

size_t disk_stats_parse(const char *text, bool (*is_wanted)(const char *root, const char *name),
			const char *root, struct disk_reading ret_disks[DISKS_MAX])
{
	size_t count = 0;

	while (*text && count < DISKS_MAX) {
		const char *end = strchrnul(text, '\n');
		struct disk_reading *disk = &ret_disks[count];
		char line[512];

		snprintf(line, sizeof(line), "%.*s", (int)(end - text), text);
		if (end - text < (ptrdiff_t)sizeof(line) && parse_line(line, disk) &&
		    (disk->reads || disk->writes || disk->busy_ms) &&
		    (!is_wanted || is_wanted(root, disk->name)))
			count++;
		text = *end ? end + 1 : end;
	}
	return count;
}

static bool is_disk(const char *root, const char *name)
{
	char path[SYSFS_PATH_SIZE];
	uint64_t number;

	snprintf(path, sizeof(path), "/sys/class/block/%s/partition", name);
	return !sysfs_u64(root, path, &number);
}

size_t disk_stats_read(const char *root, struct disk_reading ret_disks[DISKS_MAX])
{
	_cleanup_free_ char *text = sysfs_text(root, "/proc/diskstats");

	return text ? disk_stats_parse(text, is_disk, root, ret_disks) : 0;
}
