/* SPDX-License-Identifier: BSD-2-Clause */
/* Diagnostics other than errors, passed to a callback (cli/ prints them). NULL log: none. */
#ifndef PKBPF_BASE_LOG_H
#define PKBPF_BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_WARNING, LOG_INFO, LOG_DEBUG };

struct log {
	enum log_level max_level;
	void (*write)(void *context, enum log_level level, const char *text);
	void *context;
};

/* Would anybody read it? For texts that are dear to make; log_write() asks itself. */
bool log_wants(const struct log *log, enum log_level level);
void log_write(const struct log *log, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define log_warning(log, ...) log_write(log, LOG_WARNING, __VA_ARGS__)
#define log_info(log, ...)    log_write(log, LOG_INFO, __VA_ARGS__)
#define log_debug(log, ...)   log_write(log, LOG_DEBUG, __VA_ARGS__)

#endif
