// SPDX-License-Identifier: BSD-2-Clause
#include "preload/python_api.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct python_api python_api;

struct symbol {
	const char *name;
	size_t offset; /* in the struct */
	bool is_optional;
};

#define AS_NEEDED(result, name, arguments)   {#name, offsetof(struct python_api, name), false},
#define AS_OPTIONAL(result, name, arguments) {#name, offsetof(struct python_api, name), true},

static const struct symbol symbols[] = {NEEDED(AS_NEEDED) OPTIONAL(AS_OPTIONAL) AS_NEEDED(
	int, pthread_key_create, ()) AS_NEEDED(int, pthread_setspecific, ())};

bool python_api_look_up(void)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *found = dlsym(RTLD_DEFAULT, symbols[i].name);

		if (!found && !symbols[i].is_optional)
			return false;
		*(void **)((char *)&python_api + symbols[i].offset) = found;
	}
	return true;
}

uint32_t python_api_version(const char *text)
{
	uint32_t minor = 0;

	if (text[0] != '3' || text[1] != '.')
		return 0;
	for (text += 2; *text >= '0' && *text <= '9' && minor < 100; text++)
		minor = minor * 10 + (uint32_t)(*text - '0');
	return 0x300 | minor;
}

bool python_api_is_known(uint32_t version, const char *text)
{
	return version >= 0x308 && version <= 0x30d && !strstr(text, "free-threading");
}
