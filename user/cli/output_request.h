/* SPDX-License-Identifier: BSD-2-Clause */
/* What was asked for with -o and -f, before any file is opened. */
#ifndef PKBPF_CLI_OUTPUT_REQUEST_H
#define PKBPF_CLI_OUTPUT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "export/format.h"

/* One -o with the -f before it. */
struct output_request {
	const char *path;   /* "-": stdout */
	const char *format; /* NULL: by the suffix of path; text for stdout */
};

/* The format of one, by its name or by the suffix of its path. -EINVAL: there is none. Borrowed. */
int output_request_format(const struct output_request *request,
			  const struct format_ops **ret_format, struct error *error);
/* 0, or -EINVAL with a sentence that names the formats there are. */
int output_format_check(const char *name, struct error *error);
/* Does every requested output hold one kind of event only? false when there is none, or one cannot
 * be planned. */
bool output_requests_hold_one_kind(const struct output_request *requests, size_t request_count);
/* Is any of them written slice by slice? */
bool output_requests_have_slices(const struct output_request *requests, size_t request_count);
/* Does any output show how weights lie in time? */
bool output_requests_show_times(const struct output_request *requests, size_t request_count);
/* Does any output hold lines of source? */
bool output_requests_need_lines(const struct output_request *requests, size_t request_count);
/* Does every file have a name of its own for each interval? stdout has none. */
bool output_requests_have_time(const struct output_request *requests, size_t request_count);
/* Has the path a place for a time, %t? */
bool output_path_has_time(const char *pattern);
/* The path with that time, in UTC, in place of each %t; a number behind it keeps it from naming a
 * file that is there already. NULL: out of memory. The caller frees it. */
char *output_path_at(const char *pattern, int64_t unix_ns);

#endif
