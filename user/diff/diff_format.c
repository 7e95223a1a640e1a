// SPDX-License-Identifier: BSD-2-Clause
/* Finds formats by name or by the end of a path. */
#include "diff/diff_format.h"

#include <string.h>

#include "base/array.h"

#define DIFF_FORMAT_ADDRESS(name) &diff_format_##name,
static const struct diff_format_ops *const formats[] = {DIFF_FORMATS(DIFF_FORMAT_ADDRESS)};
#undef DIFF_FORMAT_ADDRESS

const struct diff_format_ops *diff_format_at(size_t index)
{
	return index < ARRAY_SIZE(formats) ? formats[index] : NULL;
}

const struct diff_format_ops *diff_format_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const struct diff_format_ops *diff_format_by_suffix(const char *path)
{
	const struct diff_format_ops *best = NULL;
	size_t best_length = 0, path_length = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		size_t length = strlen(formats[i]->suffix);

		if (length > best_length && length < path_length &&
		    !strcmp(path + path_length - length, formats[i]->suffix)) {
			best = formats[i];
			best_length = length;
		}
	}
	return best;
}
