// SPDX-License-Identifier: BSD-2-Clause
#include "preload/python_api.h"

#include <dlfcn.h>
#include <stddef.h>

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
