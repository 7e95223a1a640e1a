/* SPDX-License-Identifier: BSD-2-Clause */
/* The strings of a block, each once; number 0 is none (NULL). */
#ifndef PKBPF_RECORDING_RECORDED_STRINGS_H
#define PKBPF_RECORDING_RECORDED_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/string_pool.h"
#include "recording/packed_bytes.h"

/* Zero-initialised is empty. Either written to or read from. */
struct recorded_strings {
	struct string_pool *pool;	/* while writing */
	ARRAY_OF(const char *) strings; /* while reading: by number - 1, in data */
	uint8_t *data;
};

/* UINT32_MAX: out of memory. */
uint32_t recorded_strings_add(struct recorded_strings *strings, const char *string);
void recorded_strings_encode(const struct recorded_strings *strings, struct packed_bytes *bytes);

/* Takes over data, of size bytes with a NUL behind them, whatever comes back. -ENOMEM. */
int recorded_strings_decode(struct recorded_strings *strings, uint8_t *data, size_t size);
/* NULL: number 0, or one that is not there. */
const char *recorded_strings_get(const struct recorded_strings *strings, uint64_t number);
void recorded_strings_done(struct recorded_strings *strings);

#endif
