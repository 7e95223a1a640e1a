// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the strings of a block, one NUL-terminated behind the other. */
#include "recording/recorded_strings.h"

#include <errno.h>
#include <string.h>

uint32_t recorded_strings_add(struct recorded_strings *strings, const char *string)
{
	uint32_t id;

	if (!string)
		return 0;
	if (!strings->pool)
		strings->pool = string_pool_new();
	id = strings->pool ? string_pool_add(strings->pool, string) : STRING_POOL_NONE;
	return id == STRING_POOL_NONE ? UINT32_MAX : id + 1;
}

void recorded_strings_encode(const struct recorded_strings *strings, struct packed_bytes *bytes)
{
	size_t count = strings->pool ? string_pool_count(strings->pool) : 0;

	for (size_t i = 0; i < count; i++) {
		const char *string = string_pool_get(strings->pool, (uint32_t)i);

		packed_bytes_add(bytes, string, strlen(string) + 1);
	}
}

int recorded_strings_decode(struct recorded_strings *strings, uint8_t *data, size_t size)
{
	strings->data = data;
	for (size_t at = 0; at < size;) {
		const char **slot = array_add(&strings->strings);

		if (!slot)
			return -ENOMEM;
		*slot = (const char *)data + at;
		at += strlen(*slot) + 1;
	}
	return 0;
}

const char *recorded_strings_get(const struct recorded_strings *strings, uint64_t number)
{
	return number && number <= strings->strings.count ? strings->strings.items[number - 1]
							  : NULL;
}

void recorded_strings_done(struct recorded_strings *strings)
{
	string_pool_free(strings->pool);
	array_free(&strings->strings);
	free(strings->data);
	*strings = (struct recorded_strings){0};
}
