// SPDX-License-Identifier: BSD-2-Clause
/* Finds formats by name or by the end of a path. */
#include "export/formats.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

#define FORMAT_ADDRESS(name) &format_##name,
static const struct format_ops *const formats[] = {FORMATS(FORMAT_ADDRESS)};
#undef FORMAT_ADDRESS

int format_write_slices(const struct format_ops *format, struct results *results,
			const struct format_options *options, FILE *out)
{
	void *state = format->slices->begin(out, options);
	int err = state ? format->slices->add(state, results->profile) : -ENOMEM;

	err = err ? err : format->slices->end(state);
	format->slices->free(state);
	return err;
}

const struct format_ops *format_at(size_t index)
{
	return index < ARRAY_SIZE(formats) ? formats[index] : NULL;
}

const struct format_ops *format_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const struct format_ops *format_by_suffix(const char *path)
{
	const struct format_ops *best = NULL;
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
