// SPDX-License-Identifier: BSD-2-Clause
/* Parses lines as /proc/PID/mountinfo: what is accepted lies within the line and has a type, and
 * means the same when it is written out and parsed again. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/file/mountinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* As the kernel does it, but all of it. */
static void write_escaped(FILE *stream, const char *text)
{
	for (; *text; text++)
		fprintf(stream, "\\%03o", (unsigned char)*text);
}

static void parse_again(const struct mountinfo_entry *entry)
{
	struct mountinfo_entry again;
	char *line = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&line, &size);

	require(stream);
	fprintf(stream, "1 1 %" PRIu32 ":%" PRIu32 " / ", entry->device_major, entry->device_minor);
	write_escaped(stream, entry->point);
	fputs(" rw - ", stream);
	write_escaped(stream, entry->type);
	fputs(" source rw", stream);
	require(fclose(stream) == 0);
	/* What stood for nothing at all ("\000") is no word. */
	if (entry->point[0] && entry->type[0]) {
		require(mountinfo_parse_line(line, &again) == 0);
		require(again.device_major == entry->device_major &&
			again.device_minor == entry->device_minor);
		require(strcmp(again.point, entry->point) == 0 &&
			strcmp(again.type, entry->type) == 0);
	}
	free(line);
}

static void parse_line(const uint8_t *data, size_t size)
{
	struct mountinfo_entry entry;
	char *line = malloc(size + 1);

	require(line);
	memcpy(line, data, size);
	line[size] = '\0';
	if (mountinfo_parse_line(line, &entry) == 0) {
		require(entry.point >= line && entry.point < entry.type &&
			entry.type + strlen(entry.type) <= line + size);
		parse_again(&entry);
	}
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	while (size) {
		const uint8_t *newline = memchr(data, '\n', size);
		size_t length = newline ? (size_t)(newline - data) : size;

		parse_line(data, length);
		if (!newline)
			break;
		data += length + 1;
		size -= length + 1;
	}
	return 0;
}
