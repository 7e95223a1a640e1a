// SPDX-License-Identifier: BSD-2-Clause
/* Formats a diagnostic and hands it to the listener when its level is wanted. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define LOG_TEXT_SIZE 1024

bool log_wants(const struct log *log, enum log_level level)
{
	return log && log->write && level <= log->max_level;
}

void log_write(const struct log *log, enum log_level level, const char *format, ...)
{
	char text[LOG_TEXT_SIZE];
	int saved_errno = errno;
	va_list arguments;
	int length;

	if (!log_wants(log, level))
		return;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (length >= 0)
		log->write(log->context, level, text);
	errno = saved_errno;
}
