// SPDX-License-Identifier: BSD-2-Clause
/* Cuts perf maps into lines and jitdumps into records. */
#include "symbol/jit/code_reader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "symbol/jit/jitdump.h"
#include "symbol/jit/perf_map.h"

static ssize_t read_at(const struct code_reader *reader, void *to, size_t size, uint64_t offset)
{
	ssize_t got;

	do {
		got = pread(reader->fd, to, size, (off_t)offset);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

void code_reader_begin(struct code_reader *reader, struct code_cursor *ret_cursor)
{
	char data[JITDUMP_HEADER_BYTES];
	struct jitdump_header header;
	ssize_t got = read_at(reader, data, sizeof(data), 0);

	*ret_cursor = (struct code_cursor){0};
	reader->is_jitdump = got > 0 && jitdump_parse_header(data, (size_t)got, &header);
	if (reader->is_jitdump) {
		reader->times_known = header.times_known;
		ret_cursor->offset = header.size;
	}
}

static bool report_line(const char *line, size_t size, uint64_t offset,
			const struct code_taker *taker)
{
	struct code_entry entry;

	return !perf_map_parse_line(line, size, &entry) ||
	       taker->take(taker->context, &entry, offset);
}

/* Reports the lines of the buffer that end in it; returns their bytes. *stopped: there are more,
 * but it is enough. */
static size_t report_lines(const char *buffer, size_t size, struct code_cursor *cursor,
			   const struct code_taker *taker, bool *stopped)
{
	const char *newline;
	size_t at = 0;

	while (!*stopped && (newline = memchr(buffer + at, '\n', size - at))) {
		size_t length = (size_t)(newline - buffer) - at;

		if (!cursor->skipping)
			*stopped = !report_line(buffer + at, length, cursor->offset + at, taker);
		cursor->skipping = false;
		at += length + 1;
	}
	return at;
}

static int read_lines(const struct code_reader *reader, struct code_cursor *cursor, uint64_t end,
		      bool is_last, uint64_t max_bytes, const struct code_taker *taker)
{
	uint64_t start = cursor->offset;
	bool stopped = false;

	while (!stopped && cursor->offset < end && cursor->offset - start < max_bytes) {
		uint64_t left = end - cursor->offset;
		size_t wanted = left < CODE_READER_BYTES ? (size_t)left : CODE_READER_BYTES, used;
		ssize_t got = read_at(reader, reader->buffer, wanted, cursor->offset);

		if (got <= 0)
			return (int)got;
		used = report_lines(reader->buffer, (size_t)got, cursor, taker, &stopped);
		if (!used && (size_t)got == CODE_READER_BYTES) {
			cursor->skipping = true;
			used = (size_t)got;
		} else if (!used && cursor->skipping) {
			used = (size_t)got;
		} else if (!used && is_last) {
			report_line(reader->buffer, (size_t)got, cursor->offset, taker);
			used = (size_t)got;
		} else if (!used) {
			return 0;
		}
		cursor->offset += used;
	}
	return cursor->offset < end;
}

/* A part of the file that was read at once. */
struct window {
	uint64_t offset;
	size_t size;
};

/* The bytes at offset, as many as one record needs or as there are; NULL: none. */
static const char *window_at(const struct code_reader *reader, struct window *window,
			     uint64_t offset, uint64_t end, size_t *ret_size)
{
	uint64_t left = end - offset;
	size_t needed = left < JITDUMP_MAX_NEEDED_BYTES ? (size_t)left : JITDUMP_MAX_NEEDED_BYTES;

	if (offset < window->offset || offset + needed > window->offset + window->size) {
		size_t wanted = left < CODE_READER_BYTES ? (size_t)left : CODE_READER_BYTES;
		ssize_t got = read_at(reader, reader->buffer, wanted, offset);

		*window = (struct window){offset, got > 0 ? (size_t)got : 0};
	}
	*ret_size = window->size - (size_t)(offset - window->offset);
	return *ret_size ? reader->buffer + (offset - window->offset) : NULL;
}

static int read_records(const struct code_reader *reader, struct code_cursor *cursor, uint64_t end,
			uint64_t max_bytes, const struct code_taker *taker)
{
	uint64_t start = cursor->offset;
	struct window window = {0};
	bool stopped = false;

	while (!stopped && cursor->offset + JITDUMP_MIN_RECORD_BYTES <= end &&
	       cursor->offset - start < max_bytes) {
		struct code_entry entry;
		enum jitdump_record record;
		uint32_t total;
		size_t size;
		const char *data = window_at(reader, &window, cursor->offset, end, &size);

		if (!data)
			return 0;
		record = jitdump_parse_record(data, size, reader->times_known, &total, &entry);
		if (record == JITDUMP_BAD) {
			cursor->offset = end;
			return 0;
		}
		/* It is still being written. */
		if (total > end - cursor->offset)
			return 0;
		if (record == JITDUMP_CODE || record == JITDUMP_MOVED)
			stopped = !taker->take(taker->context, &entry, cursor->offset);
		cursor->offset += total;
	}
	return cursor->offset + JITDUMP_MIN_RECORD_BYTES <= end;
}

int code_reader_read(const struct code_reader *reader, struct code_cursor *cursor, uint64_t end,
		     bool is_last, uint64_t max_bytes, const struct code_taker *taker)
{
	if (reader->is_jitdump)
		return read_records(reader, cursor, end, max_bytes, taker);
	return read_lines(reader, cursor, end, is_last, max_bytes, taker);
}

size_t code_reader_find_index(const struct code_reader *reader, uint64_t end, uint64_t index,
			      uint32_t *records, char name[CODE_MAX_NAME_BYTES])
{
	/* The caller is amid a buffer of its own. */
	static const size_t header = JITDUMP_HEADER_BYTES;
	char data[JITDUMP_MAX_NEEDED_BYTES];
	struct jitdump_header file = {.size = (uint32_t)header};
	uint64_t offset;
	ssize_t got = read_at(reader, data, sizeof(data), 0);

	if (got <= 0 || !jitdump_parse_header(data, (size_t)got, &file))
		return 0;
	offset = file.size;
	while (*records && offset < end) {
		struct code_entry entry;
		enum jitdump_record record;
		uint32_t total;

		--*records;
		got = read_at(reader, data, sizeof(data), offset);
		if (got <= 0)
			return 0;
		record = jitdump_parse_record(data, (size_t)got, false, &total, &entry);
		if (record == JITDUMP_BAD)
			return 0;
		if (record == JITDUMP_CODE && entry.index == index) {
			size_t size = entry.name_size < CODE_MAX_NAME_BYTES - 1
					      ? entry.name_size
					      : CODE_MAX_NAME_BYTES - 1;

			memcpy(name, entry.name, size);
			return size;
		}
		offset += total;
	}
	return 0;
}
