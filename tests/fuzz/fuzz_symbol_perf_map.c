// SPDX-License-Identifier: BSD-2-Clause
/* Feeds bytes to the readers of perf maps and jitdumps, at once and in pieces, and checks that both
 * report the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash_map.h"
#include "symbol/jit/code_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	uint64_t fingerprint, last_offset;
	uint64_t count;
};

static bool take_entry(void *context, const struct code_entry *entry, uint64_t offset)
{
	struct seen *seen = context;
	uint64_t words[] = {entry->start, entry->size, offset, seen->fingerprint};

	if (entry->size == 0 || entry->start + entry->size < entry->start)
		abort();
	if (seen->count++ && offset <= seen->last_offset)
		abort();
	if (entry->name && !entry->name_size)
		abort();
	seen->last_offset = offset;
	seen->fingerprint = hash_bytes(words, sizeof(words), 0);
	if (entry->name)
		seen->fingerprint = hash_bytes(entry->name, entry->name_size, seen->fingerprint);
	return true;
}

static struct seen read_all(int fd, size_t size, uint64_t piece)
{
	static char buffer[CODE_READER_BYTES];
	struct code_reader reader = {.fd = fd, .buffer = buffer};
	struct code_cursor cursor;
	struct seen seen = {0};
	uint64_t before;

	code_reader_begin(&reader, &cursor);
	do {
		before = cursor.offset;
	} while (code_reader_read(&reader, &cursor, size, true, piece,
				  &(struct code_taker){take_entry, &seen}) > 0 &&
		 cursor.offset > before);
	if (cursor.offset > size && size >= cursor.offset)
		abort();
	return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct code_reader reader;
	char name[CODE_MAX_NAME_BYTES];
	uint32_t records = UINT32_MAX;

	if (fd < 0)
		fd = memfd_create("perf-map", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (read_all(fd, size, UINT64_MAX).fingerprint != read_all(fd, size, 1).fingerprint)
		abort();
	reader = (struct code_reader){.fd = fd};
	if (code_reader_find_index(&reader, size, 1, &records, name) >= sizeof(name))
		abort();
	return 0;
}
