/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes characters as UTF-8: RFC 3629. */
#ifndef PKBPF_BASE_UTF8_H
#define PKBPF_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_MAX_BYTES	 4
#define UTF8_REPLACEMENT 0xfffdU

/* Writes a character below 0x200000, without a NUL behind it. Returns the number of bytes. */
static inline size_t utf8_put(char to[UTF8_MAX_BYTES], uint32_t character)
{
	static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
	uint32_t more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;

	to[0] = (char)(first[more] | character >> (6 * more));
	for (uint32_t i = 1; i <= more; i++)
		to[i] = (char)(0x80 | (character >> (6 * (more - i)) & 0x3f));
	return more + 1;
}

#endif
