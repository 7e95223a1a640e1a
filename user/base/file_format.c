// SPDX-License-Identifier: BSD-2-Clause
/* Finds formats by name or by the end of a path. */
#include "base/file_format.h"

#include <string.h>

const struct file_format *file_format_by_name(file_formats *formats, const char *name)
{
	const struct file_format *format;

	for (size_t i = 0; (format = formats(i)); i++)
		if (strcmp(format->name, name) == 0)
			return format;
	return NULL;
}

const struct file_format *file_format_by_suffix(file_formats *formats, const char *path)
{
	const struct file_format *format, *best = NULL;
	size_t best_length = 0, path_length = strlen(path);

	for (size_t i = 0; (format = formats(i)); i++) {
		size_t length = strlen(format->suffix);

		if (length > best_length && length < path_length &&
		    strcmp(path + path_length - length, format->suffix) == 0) {
			best = format;
			best_length = length;
		}
	}
	return best;
}
