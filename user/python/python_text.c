// SPDX-License-Identifier: BSD-2-Clause
/* Converts the three forms in which CPython keeps characters. */
#include "python/python_text.h"

#include <stdlib.h>
#include <string.h>

static uint32_t character_at(const uint8_t *text, unsigned int width)
{
	uint32_t character = 0;

	memcpy(&character, text, width); /* targets have this machine's byte order */
	if (character == 0 || character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
		return 0xfffd;
	return character;
}

static char *put_character(char *to, uint32_t character)
{
	if (character < 0x80) {
		*to++ = (char)character;
	} else if (character < 0x800) {
		*to++ = (char)(0xc0 | character >> 6);
		*to++ = (char)(0x80 | (character & 0x3f));
	} else if (character < 0x10000) {
		*to++ = (char)(0xe0 | character >> 12);
		*to++ = (char)(0x80 | (character >> 6 & 0x3f));
		*to++ = (char)(0x80 | (character & 0x3f));
	} else {
		*to++ = (char)(0xf0 | character >> 18);
		*to++ = (char)(0x80 | (character >> 12 & 0x3f));
		*to++ = (char)(0x80 | (character >> 6 & 0x3f));
		*to++ = (char)(0x80 | (character & 0x3f));
	}
	return to;
}

char *python_text_utf8(const void *text, size_t bytes, unsigned int width, const char *before,
		       const char *after)
{
	size_t count = width == 1 || width == 2 || width == 4 ? bytes / width : 0;
	/* Four bytes at most for each. */
	char *copy = malloc(4 * count + strlen(before) + strlen(after) + 1), *to = copy;

	if (!copy)
		return NULL;
	to = stpcpy(to, before);
	for (size_t i = 0; i < count; i++)
		to = put_character(to, character_at((const uint8_t *)text + i * width, width));
	strcpy(to, after);
	return copy;
}
