// SPDX-License-Identifier: BSD-2-Clause
#include "cli/output_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/near_match.h"
#include "base/text_append.h"

/* In a path: the time at which an interval began. */
#define TIME_MARK "%t"
/* Files of one time. */
#define TIME_USES_MAX 10000

/* ---- formats ---- */

static void add_word(char *list, size_t size, const char *word)
{
	text_append(list, size, "%s%s", *list ? ", " : "", word);
}

static void list_formats(char *ret_list, size_t size, bool suffixes)
{
	const struct file_format *format;

	ret_list[0] = '\0';
	for (size_t i = 0; (format = format_at(i)); i++)
		add_word(ret_list, size, suffixes ? format->suffix : format->name);
}

int output_format_check(const char *name, struct error *error)
{
	struct near_match near = {0};
	const struct file_format *format;
	char list[256];

	if (format_by_name(name))
		return 0;
	for (size_t i = 0; (format = format_at(i)); i++)
		near_match_offer(&near, name, format->name);
	if (near.word)
		return error_set(error, EINVAL, "invalid value '%s' for --format; did you mean %s?",
				 name, near.word);
	list_formats(list, sizeof(list), false);
	return error_set(error, EINVAL, "invalid value '%s' for --format: expected %s", name, list);
}

int output_request_format(const struct output_request *request,
			  const struct format_ops **ret_format, struct error *error)
{
	char list[256];

	if (request->format)
		*ret_format = format_by_name(request->format);
	else if (strcmp(request->path, "-") == 0)
		*ret_format = format_by_name("text");
	else
		*ret_format = format_of(file_format_by_suffix(format_at, request->path));
	if (*ret_format)
		return 0;
	if (request->format || strcmp(request->path, "-") == 0)
		return output_format_check(request->format ? request->format : "text", error);
	list_formats(list, sizeof(list), true);
	return error_set(error, EINVAL,
			 "unknown format of %s: use a suffix (%s) or put --format NAME before it",
			 request->path, list);
}

bool output_requests_hold_one_kind(const struct output_request *requests, size_t request_count)
{
	for (size_t i = 0; i < request_count; i++) {
		const struct format_ops *format;

		if (output_request_format(&requests[i], &format, NULL) < 0 || !format->one_kind)
			return false;
	}
	return request_count > 0;
}

bool output_requests_have_slices(const struct output_request *requests, size_t request_count)
{
	for (size_t i = 0; i < request_count; i++) {
		const struct format_ops *format;

		if (output_request_format(&requests[i], &format, NULL) == 0 && format->slices)
			return true;
	}
	return false;
}

bool output_requests_show_times(const struct output_request *requests, size_t request_count)
{
	for (size_t i = 0; i < request_count; i++) {
		const struct format_ops *format;

		if (output_request_format(&requests[i], &format, NULL) == 0 && format->shows_times)
			return true;
	}
	return false;
}

bool output_requests_need_lines(const struct output_request *requests, size_t request_count)
{
	for (size_t i = 0; i < request_count; i++) {
		const struct format_ops *format;

		if (output_request_format(&requests[i], &format, NULL) == 0 && format->needs_lines)
			return true;
	}
	return false;
}

/* ---- paths with a time in them ---- */

bool output_path_has_time(const char *pattern)
{
	return strstr(pattern, TIME_MARK);
}

bool output_requests_have_time(const struct output_request *requests, size_t request_count)
{
	for (size_t i = 0; i < request_count; i++) {
		if (strcmp(requests[i].path, "-") != 0 && !output_path_has_time(requests[i].path))
			return false;
	}
	return true;
}

/* 20261127T134500Z, for each mark, or 20261127T134500Z-2 for its second use. NULL: out of memory.
 */
static char *expand_time(const char *pattern, int64_t unix_ns, unsigned int use)
{
	time_t seconds = (time_t)(unix_ns / 1000000000);
	char time_text[32], *text = NULL;
	struct tm utc;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const char *mark;

	if (!out)
		return NULL;
	gmtime_r(&seconds, &utc);
	strftime(time_text, sizeof(time_text), "%Y%m%dT%H%M%SZ", &utc);
	if (use > 1)
		text_append(time_text, sizeof(time_text), "-%u", use);
	for (; (mark = strstr(pattern, TIME_MARK)); pattern = mark + strlen(TIME_MARK))
		fprintf(out, "%.*s%s", (int)(mark - pattern), pattern, time_text);
	fputs(pattern, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* A clock that is set back, or is read twice within a second, gives the same time again: a file
 * that is there already keeps its name. */
char *output_path_at(const char *pattern, int64_t unix_ns)
{
	char *path = expand_time(pattern, unix_ns, 1);
	struct stat status;

	for (unsigned int use = 2; output_path_has_time(pattern) && path && use <= TIME_USES_MAX;
	     use++) {
		if (lstat(path, &status) < 0)
			break;
		free(path);
		path = expand_time(pattern, unix_ns, use);
	}
	return path;
}
