/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as bytes: seven bits each, lowest first, the eighth says that more follow (LEB128). Small
 * numbers, which most are, take one byte. Not thread-safe.
 */
#ifndef PKBPF_RECORDING_PACKED_BYTES_H
#define PKBPF_RECORDING_PACKED_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty. After a failure for lack of memory it stays failed, so that only the
 * last call needs a check. */
struct packed_bytes {
	uint8_t *items;
	size_t count, capacity;
	bool failed;
};

void packed_bytes_add(struct packed_bytes *bytes, const void *data, size_t size);
void packed_bytes_add_number(struct packed_bytes *bytes, uint64_t value);
void packed_bytes_done(struct packed_bytes *bytes);

/* Reads foreign bytes. After bytes that are no number, or too few of them, it stays failed and
 * gives 0. */
struct packed_reader {
	const uint8_t *at;
	size_t left;
	bool failed;
};

uint64_t packed_reader_number(struct packed_reader *reader);
/* The next bytes, borrowed from what is read; NULL: there are not so many. */
const uint8_t *packed_reader_bytes(struct packed_reader *reader, uint64_t size);

/* Negative numbers next to 0 are small, too: 0, -1, 1, -2, … become 0, 1, 2, 3, … */
static inline uint64_t packed_from_signed(int64_t value)
{
	return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}
static inline int64_t packed_to_signed(uint64_t value)
{
	return (int64_t)((value >> 1) ^ (value & 1 ? UINT64_MAX : 0));
}

#endif
