// SPDX-License-Identifier: BSD-2-Clause
/* Writes the names of JavaScript functions. */
#include "symbol/jit/v8_label.h"

#include <stdio.h>
#include <string.h>

static const char *short_path(const char *path)
{
	const char *name = strrchr(path, '/');

	return strncmp(path, "node:", 5) != 0 && name && name[1] ? name + 1 : path;
}

void v8_label_write(char label[V8_LABEL_BYTES], const char *name, const char *path, uint32_t line)
{
	if (!name[0])
		name = "(anonymous)";
	if (!path[0])
		snprintf(label, V8_LABEL_BYTES, "%.255s", name);
	else if (line)
		snprintf(label, V8_LABEL_BYTES, "%.255s (%.230s:%u)", name, short_path(path), line);
	else
		snprintf(label, V8_LABEL_BYTES, "%.255s (%.230s)", name, short_path(path));
}
