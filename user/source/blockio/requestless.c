// SPDX-License-Identifier: BSD-2-Clause
/* Counts the I/O of block devices that make no requests. */
#include "source/blockio/requestless.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_io.h"

/* Size limit of a device's `stat` file: 17 numbers of at most 20 digits. */
#define STAT_SIZE 1024
/* Positions in `stat` of completed reads, writes and discards. */
#define READS	 0
#define WRITES	 4
#define DISCARDS 11

static bool has_entries(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool found = false;

	if (!entries) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && (entry = readdir(entries)))
		found = entry->d_name[0] != '.';
	closedir(entries);
	return found;
}

static uint64_t count_of(int folder)
{
	_cleanup_free_ char *text = NULL;
	uint64_t sum = 0;
	size_t size;
	char *at;

	if (file_read_all(folder, "stat", STAT_SIZE, &text, &size))
		return 0;
	at = text;
	for (int number = 0; number <= DISCARDS; number++) {
		char *end;
		uint64_t value = strtoull(at, &end, 10);

		if (end == at)
			break;
		if (number == READS || number == WRITES || number == DISCARDS)
			sum += value;
		at = end;
	}
	return sum;
}

uint64_t requestless_count(const char *sysfs)
{
	char path[256];
	const struct dirent *entry;
	uint64_t sum = 0;
	DIR *devices;

	snprintf(path, sizeof(path), "%s/block", sysfs);
	devices = opendir(path);
	if (!devices)
		return 0;
	while ((entry = readdir(devices))) {
		_cleanup_close_ int folder = -1;

		if (entry->d_name[0] == '.' || strncmp(entry->d_name, "nvme", 4) == 0)
			continue;
		folder = openat(dirfd(devices), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		/* A device that makes requests has hardware queues (mq). A stacked device lists
		 * the devices below it (slaves). */
		if (folder >= 0 && faccessat(folder, "mq", F_OK, 0) &&
		    !has_entries(folder, "slaves"))
			sum += count_of(folder);
	}
	closedir(devices);
	return sum;
}
