// SPDX-License-Identifier: BSD-2-Clause
#include "base/named_line.h"

#include <stdlib.h>
#include <string.h>

const char *named_line(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0)
			return line + length;
	}
	return NULL;
}

uint64_t named_number(const char *text, const char *name)
{
	const char *number = named_line(text, name);

	return number ? strtoull(number, NULL, 10) : 0;
}
