// SPDX-License-Identifier: BSD-2-Clause
/* Prints sentences for people on stderr. */
#include "cli/console.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/parse_value.h"

#define CLEAR_LINE "\r\033[K"

/* Room for the longest sentence of a library with words of ours around it. Escaping never makes
 * text longer. */
#define LINE_SIZE (2 * ERROR_TEXT_SIZE)

void console_status(struct console *console, const char *line)
{
	char escaped[LINE_SIZE];

	if (!*line && !console->status_shown)
		return;
	fprintf(console->out, CLEAR_LINE "%s", escape_terminal(escaped, sizeof(escaped), line));
	fflush(console->out);
	console->status_shown = *line != '\0';
}

/* Every line of text gets the prefix: a sentence may carry an excerpt of what the kernel said. */
static void print_lines(struct console *console, const char *prefix, char *text)
{
	char escaped[LINE_SIZE];
	char *rest = text, *line;

	console_status(console, "");
	while ((line = strsep(&rest, "\n"))) {
		if (!*line && line != text)
			continue;
		fprintf(console->out, "pkbpf: %s%s\n", prefix,
			escape_terminal(escaped, sizeof(escaped), line));
	}
	fflush(console->out);
}

__attribute__((format(printf, 2, 0))) static void
print_formatted(struct console *console, const char *format, va_list arguments)
{
	char text[LINE_SIZE];

	vsnprintf(text, sizeof(text), format, arguments);
	print_lines(console, "", text);
}

void console_error(struct console *console, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_formatted(console, format, arguments);
	va_end(arguments);
}

void console_note(struct console *console, const char *format, ...)
{
	va_list arguments;

	if (console->quiet)
		return;
	va_start(arguments, format);
	print_formatted(console, format, arguments);
	va_end(arguments);
}

static void write_log(void *context, enum log_level level, const char *text)
{
	struct console *console = context;
	char *copy;

	if (level == LOG_WARNING && console->quiet)
		return;
	copy = strdup(text);
	if (!copy)
		return;
	print_lines(console, level == LOG_WARNING ? "warning: " : "", copy);
	free(copy);
}

struct log console_log(struct console *console)
{
	enum log_level max_level = LOG_WARNING;

	if (console->verbosity >= 2)
		max_level = LOG_DEBUG;
	else if (console->verbosity == 1)
		max_level = LOG_INFO;
	return (struct log){.max_level = max_level, .write = write_log, .context = console};
}

bool console_is_terminal(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

unsigned int console_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t number;

	if (columns && parse_u64(columns, "COLUMNS", 1, UINT16_MAX, &number, NULL) == 0)
		return (unsigned int)number;
	return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool console_wants_color(enum color_choice choice, int fd)
{
	const char *no_color = getenv("NO_COLOR");

	if (choice != COLOR_AUTO)
		return choice == COLOR_ALWAYS;
	return console_is_terminal(fd) && (!no_color || !*no_color);
}
