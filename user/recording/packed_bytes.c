// SPDX-License-Identifier: BSD-2-Clause
/* Writes and reads numbers of seven bits per byte. */
#include "recording/packed_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void packed_bytes_add(struct packed_bytes *bytes, const void *data, size_t size)
{
	if (bytes->failed || !size)
		return;
	if (size > SIZE_MAX - bytes->count || !array_reserve(bytes, bytes->count + size)) {
		bytes->failed = true;
		return;
	}
	memcpy(bytes->items + bytes->count, data, size);
	bytes->count += size;
}

void packed_bytes_add_number(struct packed_bytes *bytes, uint64_t value)
{
	uint8_t data[10];
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		data[size++] = (uint8_t)(value | 0x80);
	data[size++] = (uint8_t)value;
	packed_bytes_add(bytes, data, size);
}

void packed_bytes_done(struct packed_bytes *bytes)
{
	array_free(bytes);
	bytes->failed = false;
}

uint64_t packed_reader_number(struct packed_reader *reader)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; !reader->failed && reader->left && shift < 64; shift += 7) {
		uint8_t byte = *reader->at++;

		reader->left--;
		/* Of the tenth byte one bit is left. */
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	reader->failed = true;
	return 0;
}

const uint8_t *packed_reader_bytes(struct packed_reader *reader, uint64_t size)
{
	const uint8_t *bytes = reader->at;

	if (reader->failed || size > reader->left) {
		reader->failed = true;
		return NULL;
	}
	reader->at += size;
	reader->left -= size;
	return bytes;
}
