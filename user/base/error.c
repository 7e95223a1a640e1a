// SPDX-License-Identifier: BSD-2-Clause
/* Formats the sentence of a failure into the caller's struct error. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char cut_mark[] = "...";

/* Puts the mark at the end of a text that fills its buffer, without leaving half a UTF-8 character
 * before it. */
static void mark_cut(char *text)
{
	size_t end = ERROR_TEXT_SIZE - sizeof(cut_mark);

	while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	memcpy(text + end, cut_mark, sizeof(cut_mark));
}

int error_set(struct error *error, int errnum, const char *format, ...)
{
	/* Not straight into error->text: a caller who wraps a sentence passes that very text as
	 * argument. */
	char text[ERROR_TEXT_SIZE];
	int saved_errno = errno;
	va_list arguments;
	int length;

	if (!error)
		return -errnum;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (length < 0)
		text[0] = '\0';
	else if ((size_t)length >= sizeof(text))
		mark_cut(text);
	memcpy(error->text, text, strlen(text) + 1);
	errno = saved_errno;
	return -errnum;
}
