/* SPDX-License-Identifier: BSD-2-Clause */
/* How a file format is called, and how the names of its files end: the beginning of each row of a
 * table of formats. */
#ifndef PKBPF_BASE_FILE_FORMAT_H
#define PKBPF_BASE_FILE_FORMAT_H

#include <stddef.h>

struct file_format {
	const char *name;   /* "folded" */
	const char *suffix; /* ".folded" */
	const char *summary;
};

/* A table of formats: index from 0; NULL at the end. */
typedef const struct file_format *file_formats(size_t index);

/* NULL when unknown. */
const struct file_format *file_format_by_name(file_formats *formats, const char *name);
/* By the end of a path; the longest matching suffix wins. NULL when none matches. */
const struct file_format *file_format_by_suffix(file_formats *formats, const char *path);

#endif
