// SPDX-License-Identifier: BSD-2-Clause
/* Reads a stream of events record by record; its bytes are untrusted. */
#include "replayer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "event/decoder.h"
#include "recorder.h"

/* Returns the bytes read, less than size only at the end of the file; or -errno. */
static ssize_t read_bytes(FILE *in, void *data, size_t size)
{
	size_t got;

	errno = 0;
	got = fread(data, 1, size, in);
	if (got < size && ferror(in))
		return errno ? -errno : -EIO;
	return (ssize_t)got;
}

static int fail_reading(struct error *error, ssize_t err)
{
	return error_set(error, (int)-err, "cannot read the stream: %s", strerror((int)-err));
}

static int fail_cut(struct error *error, uint64_t offset)
{
	return error_set(error, EBADMSG,
			 "the stream is truncated: its last record, at byte %llu, is incomplete",
			 (unsigned long long)offset);
}

static int check_file_header(FILE *in, struct error *error)
{
	struct event_file_header header;
	ssize_t got = read_bytes(in, &header, sizeof(header));

	if (got < 0)
		return fail_reading(error, got);
	if ((size_t)got < sizeof(header) ||
	    memcmp(header.magic, EVENT_FILE_MAGIC, sizeof(header.magic)) != 0 ||
	    header.version == 0)
		return error_set(error, EBADMSG, "not a stream of events");
	if (header.version > EVENT_FILE_VERSION)
		return error_set(error, ENOTSUP,
				 "the stream has format version %u, newer than the supported "
				 "version %u; use a newer pkbpf",
				 header.version, (unsigned int)EVENT_FILE_VERSION);
	return 0;
}

int replay_stream(FILE *in, const struct event_sink *sink, struct error *error)
{
	_cleanup_free_ uint8_t *record = malloc(EVENT_MAX_RECORD_SIZE);
	uint64_t offset = sizeof(struct event_file_header);
	int err;

	if (!record)
		return error_set(error, ENOMEM, "cannot read the stream: out of memory");
	err = check_file_header(in, error);
	if (err)
		return err;
	for (;;) {
		struct pkbpf_event_header header;
		ssize_t got = read_bytes(in, record, sizeof(header));
		size_t rest;

		if (got == 0)
			return 0;
		if (got < 0)
			return fail_reading(error, got);
		if ((size_t)got < sizeof(header))
			return fail_cut(error, offset);
		if (event_check_header(record, EVENT_MAX_RECORD_SIZE, &header) < 0)
			goto damaged;
		rest = header.size - sizeof(header);
		got = read_bytes(in, record + sizeof(header), rest);
		if (got < 0)
			return fail_reading(error, got);
		if ((size_t)got < rest)
			return fail_cut(error, offset);
		if (event_decode(record, header.size, sink) < 0)
			goto damaged;
		offset += header.size;
	}
damaged:
	return error_set(error, EBADMSG, "the stream is damaged: no valid record at byte %llu",
			 (unsigned long long)offset);
}
