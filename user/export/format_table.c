// SPDX-License-Identifier: BSD-2-Clause
/* Finds formats by name or by the end of a path. */
#include "export/formats.h"

#include <errno.h>

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

const struct file_format *format_at(size_t index)
{
	return index < ARRAY_SIZE(formats) ? &formats[index]->file : NULL;
}

const struct format_ops *format_of(const struct file_format *file)
{
	return (const struct format_ops *)file;
}

const struct format_ops *format_by_name(const char *name)
{
	return format_of(file_format_by_name(format_at, name));
}
