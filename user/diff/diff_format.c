// SPDX-License-Identifier: BSD-2-Clause
/* Finds formats by name or by the end of a path. */
#include "diff/diff_format.h"

#include <string.h>

#include "base/array.h"

#define DIFF_FORMAT_ADDRESS(name) &diff_format_##name,
static const struct diff_format_ops *const formats[] = {DIFF_FORMATS(DIFF_FORMAT_ADDRESS)};
#undef DIFF_FORMAT_ADDRESS

const struct file_format *diff_format_at(size_t index)
{
	return index < ARRAY_SIZE(formats) ? &formats[index]->file : NULL;
}

const struct diff_format_ops *diff_format_of(const struct file_format *file)
{
	return (const struct diff_format_ops *)file;
}

const struct diff_format_ops *diff_format_by_name(const char *name)
{
	return diff_format_of(file_format_by_name(diff_format_at, name));
}
