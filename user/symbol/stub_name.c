// SPDX-License-Identifier: BSD-2-Clause
#include "symbol/stub_name.h"

#include <stdio.h>
#include <string.h>

#include "elf/demangle.h"

/* One more underscore belongs to both in "__device_stub__Z5scalePfi". */
#define STUB	     "__device_stub__"
#define LONGEST_NAME 1024

void stub_name(const char *name, char *ret_name, size_t size)
{
	char mangled[LONGEST_NAME];

	if (strncmp(name, STUB, strlen(STUB)) == 0) {
		name += strlen(STUB);
		snprintf(mangled, sizeof(mangled), "_%s", name);
		if (name[0] == 'Z' && demangle(mangled, ret_name, size))
			return;
	}
	if (!demangle(name, ret_name, size))
		snprintf(ret_name, size, "%s", name);
}
