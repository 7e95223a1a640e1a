// SPDX-License-Identifier: BSD-2-Clause
/* Prints behind what is in the buffer. */
#include "base/text_append.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_append(char *text, size_t size, const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, size - length, format, arguments);
	va_end(arguments);
}
