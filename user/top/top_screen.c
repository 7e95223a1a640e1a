// SPDX-License-Identifier: BSD-2-Clause
/* Lays text out in lines of columns. */
#include "top/top_screen.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "report/text_table.h"

int top_screen_init(struct top_screen *screen, size_t width, size_t height)
{
	*screen = (struct top_screen){.height = height, .width = width};
	screen->lines = calloc(height ? height : 1, sizeof(*screen->lines));
	return screen->lines ? 0 : -ENOMEM;
}

void top_screen_done(struct top_screen *screen)
{
	free(screen->lines);
	screen->lines = NULL;
}

void top_screen_clear(struct top_screen *screen)
{
	screen->used = 0;
}

struct top_line *top_screen_line(struct top_screen *screen)
{
	struct top_line *line =
		screen->used < screen->height ? &screen->lines[screen->used] : &screen->spare;

	screen->used++;
	line->text[0] = '\0';
	line->bytes = line->columns = 0;
	line->width = screen->width;
	return line;
}

size_t top_screen_left(const struct top_screen *screen)
{
	return screen->used < screen->height ? screen->height - screen->used : 0;
}

static void append(struct top_line *line, enum top_attribute attribute, char *clean)
{
	size_t room = line->width > line->columns ? line->width - line->columns : 0, bytes;

	if (text_columns(clean) > room)
		text_cut(clean, room);
	bytes = strlen(clean);
	if (line->bytes + bytes + 1 > sizeof(line->text))
		return;
	memcpy(line->text + line->bytes, clean, bytes + 1);
	memset(line->attributes + line->bytes, (int)attribute, bytes);
	line->bytes += bytes;
	line->columns += text_columns(clean);
}

void top_add(struct top_line *line, enum top_attribute attribute, const char *format, ...)
{
	char text[TOP_LINE_SIZE], clean[TOP_LINE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	append(line, attribute, escape_terminal(clean, sizeof(clean), text));
}

void top_pad(struct top_line *line, enum top_attribute attribute, size_t column)
{
	if (column > line->width)
		column = line->width;
	while (line->columns < column && line->bytes + 1 < sizeof(line->text)) {
		line->attributes[line->bytes] = (unsigned char)attribute;
		line->text[line->bytes++] = ' ';
		line->text[line->bytes] = '\0';
		line->columns++;
	}
}

void top_mark_line(struct top_line *line, enum top_attribute attribute)
{
	top_pad(line, attribute, line->width);
	memset(line->attributes, (int)attribute, line->bytes);
}
