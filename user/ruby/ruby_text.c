// SPDX-License-Identifier: BSD-2-Clause
/* Checks UTF-8. Strings in other encodings are rare in names and paths. */
#include "ruby/ruby_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static bool is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Length that the first byte of a character says; 0: it is none. */
static size_t length_of(uint8_t first)
{
	if (first < 0x80)
		return first != 0;
	if (first >= 0xc2 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* Beyond the shortest form, surrogates, and beyond the last character. */
static bool is_refused(uint8_t first, uint8_t second)
{
	return (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
	       (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
}

/* Bytes of the character at the start that are there and right. */
static size_t right_bytes(const uint8_t *text, size_t left, size_t length)
{
	size_t right = 1;

	if (length > 1 && left > 1 && is_refused(text[0], text[1]))
		return 1;
	while (right < length && right < left && is_continuation(text[right]))
		right++;
	return right;
}

char *ruby_text_utf8(const char *text, size_t bytes, const char *before, const char *after)
{
	const uint8_t *from = (const uint8_t *)text, *end = from + bytes;
	char *copy = malloc(UTF8_MAX_BYTES * bytes + strlen(before) + strlen(after) + 1),
	     *to = copy;

	if (!copy)
		return NULL;
	to = stpcpy(to, before);
	for (int i = 0; *before && i < 3 && from < end && is_continuation(*from); i++)
		from++;
	while (from < end) {
		size_t left = (size_t)(end - from), length = length_of(*from),
		       right = right_bytes(from, left, length);

		if (length && right == length)
			to = mempcpy(to, from, length);
		else if (!*after || !length || right < left)
			to += utf8_put(to, UTF8_REPLACEMENT);
		from += right;
	}
	strcpy(to, after);
	return copy;
}
