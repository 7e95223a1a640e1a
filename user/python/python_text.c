// SPDX-License-Identifier: BSD-2-Clause
/* Converts the three forms in which CPython keeps characters. */
#include "python/python_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static uint32_t character_at(const uint8_t *text, unsigned int width)
{
	uint32_t character = 0;

	memcpy(&character, text, width); /* targets have this machine's byte order */
	if (character == 0 || character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
		return UTF8_REPLACEMENT;
	return character;
}

char *python_text_utf8(const void *text, size_t bytes, unsigned int width, const char *before,
		       const char *after)
{
	size_t count = width == 1 || width == 2 || width == 4 ? bytes / width : 0;
	char *copy = malloc(UTF8_MAX_BYTES * count + strlen(before) + strlen(after) + 1),
	     *to = copy;

	if (!copy)
		return NULL;
	to = stpcpy(to, before);
	for (size_t i = 0; i < count; i++)
		to += utf8_put(to, character_at((const uint8_t *)text + i * width, width));
	strcpy(to, after);
	return copy;
}
