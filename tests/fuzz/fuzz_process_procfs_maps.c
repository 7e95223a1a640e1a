// SPDX-License-Identifier: BSD-2-Clause
/* Parses lines as /proc/PID/maps; what is accepted must mean the same when written out and parsed
 * again. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/procfs_maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* As the kernel writes it: the newline is the only character it escapes. */
static size_t write_line(char *line, size_t size, const struct procfs_mapping *mapping)
{
	size_t used = (size_t)snprintf(
		line, size,
		"%08" PRIx64 "-%08" PRIx64 " %c%c%cp %08" PRIx64 " %02x:%02x %" PRIu64 " ",
		mapping->start, mapping->end, mapping->protection & 1 ? 'r' : '-',
		mapping->protection & 2 ? 'w' : '-', mapping->protection & 4 ? 'x' : '-',
		mapping->file_offset, mapping->device_major, mapping->device_minor, mapping->inode);

	for (const char *at = mapping->path; *at; at++) {
		if (*at == '\n') {
			memcpy(line + used, "\\012", 4);
			used += 4;
		} else {
			line[used++] = *at;
		}
	}
	return used;
}

static void parse_line(const char *data, size_t size)
{
	struct procfs_mapping mapping, again;
	char line[256 + 4 * sizeof(mapping.path)];
	char *copy = malloc(size ? size : 1);

	require(copy);
	memcpy(copy, data, size);
	if (procfs_maps_parse_line(copy, size, &mapping) == 0) {
		size_t length = write_line(line, sizeof(line), &mapping);

		require(mapping.start < mapping.end && mapping.protection < 8);
		require(strlen(mapping.path) < sizeof(mapping.path));
		require(procfs_maps_parse_line(line, length, &again) == 0);
		require(again.start == mapping.start && again.end == mapping.end);
		require(again.file_offset == mapping.file_offset && again.inode == mapping.inode);
		require(again.device_major == mapping.device_major);
		require(again.device_minor == mapping.device_minor);
		require(again.protection == mapping.protection);
		/* A backslash before the digits of a newline reads as a newline the second time
		 * round. */
		require(strchr(mapping.path, '\\') || strcmp(again.path, mapping.path) == 0);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data;

	while (size) {
		const char *newline = memchr(at, '\n', size);
		size_t length = newline ? (size_t)(newline - at) : size;

		parse_line(at, length);
		if (!newline)
			break;
		at += length + 1;
		size -= length + 1;
	}
	return 0;
}
