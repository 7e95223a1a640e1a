// SPDX-License-Identifier: BSD-2-Clause
#include "process/file/mountinfo.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_FIELD 2
#define POINT_FIELD  4

/* The kernel writes spaces and similar characters as three octal digits. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		if (at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' &&
		    at[3] >= '0' && at[3] <= '7') {
			*to++ = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
			at += 3;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
}

/* Parses decimal digits up to `end`, as a 32-bit number. */
static int parse_number(const char *text, char end, uint32_t *ret_number, const char **ret_end)
{
	uint64_t number = 0;

	if (*text < '0' || *text > '9')
		return -EBADMSG;
	for (; *text >= '0' && *text <= '9'; text++) {
		number = number * 10 + (uint64_t)(*text - '0');
		if (number > UINT32_MAX)
			return -EBADMSG;
	}
	*ret_number = (uint32_t)number;
	*ret_end = text + 1;
	return *text == end ? 0 : -EBADMSG;
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw": the number of words before
 * the "-" varies. */
int mountinfo_parse_line(char *line, struct mountinfo_entry *ret_entry)
{
	char *rest = NULL, *word = strtok_r(line, " ", &rest), *point = NULL, *type;
	struct mountinfo_entry entry = {0};
	const char *minor_text, *end;

	for (int i = 0; word && strcmp(word, "-") != 0; i++) {
		if (i == DEVICE_FIELD &&
		    (parse_number(word, ':', &entry.device_major, &minor_text) ||
		     parse_number(minor_text, '\0', &entry.device_minor, &end)))
			return -EBADMSG;
		if (i == POINT_FIELD)
			point = word;
		word = strtok_r(NULL, " ", &rest);
	}
	type = word ? strtok_r(NULL, " ", &rest) : NULL;
	if (!point || !type)
		return -EBADMSG;
	unescape(point);
	unescape(type);
	entry.point = point;
	entry.type = type;
	*ret_entry = entry;
	return 0;
}
