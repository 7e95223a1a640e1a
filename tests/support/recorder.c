// SPDX-License-Identifier: BSD-2-Clause
/* Writes the header of a stream, then its records. */
#include "recorder.h"

#include <errno.h>
#include <string.h>

#include "event/decoder.h"

static int write_bytes(FILE *out, const void *data, size_t size)
{
	errno = 0;
	if (fwrite(data, 1, size, out) == size)
		return 0;
	return errno ? -errno : -EIO;
}

int recorder_begin(FILE *out)
{
	struct event_file_header header = {.version = EVENT_FILE_VERSION};

	memcpy(header.magic, EVENT_FILE_MAGIC, sizeof(header.magic));
	return write_bytes(out, &header, sizeof(header));
}

int recorder_write(FILE *out, const void *record, size_t size)
{
	const uint8_t *bytes = record;
	size_t offset = 0;

	/* A record of a wrong size would make everything after it unreadable. */
	while (offset < size) {
		struct pkbpf_event_header header;

		if (event_check_header(bytes + offset, size - offset, &header) < 0)
			return -EBADMSG;
		offset += header.size;
	}
	return write_bytes(out, record, size);
}
