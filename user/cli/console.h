/* SPDX-License-Identifier: BSD-2-Clause */
/* Output on stderr: errors, notes, diagnostics and the status line. */
#ifndef PKBPF_CLI_CONSOLE_H
#define PKBPF_CLI_CONSOLE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/log.h"

struct console {
	FILE *out;
	bool quiet;		/* no notes, no warnings */
	unsigned int verbosity; /* 1: LOG_INFO, 2: LOG_DEBUG */
	bool status_shown;
};

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Prints "pkbpf: sentence". Control characters of whatever names it holds are replaced. */
void console_error(struct console *console, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same, but silent with quiet: for what is good to know and no failure. */
void console_note(struct console *console, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Shows line as the terminal's last one, in place of the status before; "" removes it. */
void console_status(struct console *console, const char *line);
/* A listener for library diagnostics; borrows console. */
struct log console_log(struct console *console);

/* May the stream behind fd be painted: a terminal that is not dumb, and NO_COLOR is unset or
 * empty. */
bool console_wants_color(enum color_choice choice, int fd);
/* A terminal that understands "clear line". */
bool console_is_terminal(int fd);
/* Columns of the terminal behind fd, or as the environment says; 0: not known. */
unsigned int console_width(int fd);

#endif
