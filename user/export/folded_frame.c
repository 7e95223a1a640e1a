// SPDX-License-Identifier: BSD-2-Clause
#include "export/folded_frame.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

/* flamegraph.pl takes a stack that ends in " 12" or " 1.5" for the older half of a differential. */
static void hide_trailing_number(char *text)
{
	char *end = text + strlen(text), *digits = end;

	while (digits > text && isdigit((unsigned char)digits[-1]))
		digits--;
	if (digits > text && digits[-1] == '.') {
		digits--;
		while (digits > text && isdigit((unsigned char)digits[-1]))
			digits--;
	}
	if (digits < end && isdigit((unsigned char)*digits) && digits > text && digits[-1] == ' ')
		digits[-1] = '_';
}

void folded_frame(char *dst, size_t size, const char *text)
{
	size_t length;

	escape_terminal(dst, size, text);
	for (char *c = dst; *c; c++)
		if (*c == ';')
			*c = ':';
	hide_trailing_number(dst);
	/* Exactly one space stands before the number. */
	for (length = strlen(dst); length && dst[length - 1] == ' '; length--)
		dst[length - 1] = '_';
	if (dst[0] == ' ')
		dst[0] = '_';
	if (!dst[0])
		snprintf(dst, size, "[unknown]");
}
