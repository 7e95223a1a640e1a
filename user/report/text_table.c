// SPDX-License-Identifier: BSD-2-Clause
// Lays out text in the columns of a terminal.
#include "report/text_table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/escape.h"

#define COLUMN_GAP 1
#define COLUMN_MIN 6 /* a flexible column is never made narrower */

struct text_table {
	const struct text_column *columns;
	size_t column_count;
	ARRAY_OF(char *) cells;
	bool failed;
};

/* One character of text that escape_terminal() has made valid. */
static size_t character_next(const char *text, uint32_t *ret_character)
{
	const unsigned char *byte = (const unsigned char *)text;
	size_t length = *byte < 0x80 ? 1 : *byte < 0xe0 ? 2 : *byte < 0xf0 ? 3 : 4;
	uint32_t character = length == 1 ? *byte : *byte & (0x7fU >> length);

	for (size_t i = 1; i < length; i++) {
		if ((byte[i] & 0xc0) != 0x80) {
			/* Not clean after all: never run past the end. */
			*ret_character = '?';
			return i;
		}
		character = character << 6 | (byte[i] & 0x3f);
	}
	*ret_character = character;
	return length;
}

struct character_range {
	uint32_t first, last;
};

static bool in_ranges(const struct character_range *ranges, size_t count, uint32_t character)
{
	for (size_t i = 0; i < count; i++)
		if (character >= ranges[i].first && character <= ranges[i].last)
			return true;
	return false;
}

/* Blocks, not single characters: good for alignment in every script that names are likely to be
 * in. */
static size_t character_columns(uint32_t character)
{
	static const struct character_range combining[] = {
		{0x300, 0x36f},	  {0x483, 0x489},   {0x591, 0x5bd},	{0x610, 0x61a},
		{0x64b, 0x65f},	  {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},	{0x20d0, 0x20ff},
		{0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
	};
	static const struct character_range wide[] = {
		{0x1100, 0x115f},   {0x231a, 0x231b},	{0x2e80, 0x303e},   {0x3041, 0xa4cf},
		{0xa960, 0xa97f},   {0xac00, 0xd7a3},	{0xf900, 0xfaff},   {0xfe30, 0xfe6f},
		{0xff00, 0xff60},   {0xffe0, 0xffe6},	{0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff},
		{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
	};

	if (character < 0x300)
		return 1;
	if (in_ranges(combining, ARRAY_SIZE(combining), character))
		return 0;
	return in_ranges(wide, ARRAY_SIZE(wide), character) ? 2 : 1;
}

size_t text_columns(const char *text)
{
	size_t columns = 0;
	uint32_t character;

	while (*text) {
		text += character_next(text, &character);
		columns += character_columns(character);
	}
	return columns;
}

/* Bytes of the longest beginning that takes at most `columns`. */
static size_t bytes_within(const char *text, size_t columns)
{
	size_t used = 0, bytes = 0;
	uint32_t character;

	while (text[bytes]) {
		size_t length = character_next(text + bytes, &character);

		used += character_columns(character);
		if (used > columns)
			break;
		bytes += length;
	}
	return bytes;
}

void text_cut(char *text, size_t columns)
{
	size_t dots = columns > 6 ? 3 : 0, bytes, kept;

	kept = bytes_within(text, columns);
	if (!text[kept])
		return;
	bytes = bytes_within(text, columns - dots);
	/* Wide characters may leave fewer bytes behind than the dots need. */
	if (kept - bytes < dots && strlen(text + bytes) < dots)
		dots = 0;
	memcpy(text + bytes, "...", dots);
	text[bytes + dots] = '\0';
}

/* Columns of the next word. */
static size_t word_columns(const char *text, size_t bytes)
{
	uint32_t character;
	size_t columns = 0;

	for (size_t i = 0; i < bytes;) {
		i += character_next(text + i, &character);
		columns += character_columns(character);
	}
	return columns;
}

/* The rest of a text in what is left of the last line. */
static void write_rest(FILE *out, const char *text, size_t columns)
{
	char rest[TEXT_CELL_SIZE];

	snprintf(rest, sizeof(rest), "%s", text);
	text_cut(rest, columns);
	fputs(rest, out);
}

size_t text_wrap_lines(FILE *out, size_t width, const struct text_wrapping *wrapping,
		       const char *text)
{
	size_t column = text_columns(wrapping->label), lines = 1;
	bool line_empty = true;

	fputs(wrapping->label, out);
	for (; column < wrapping->indent; column++)
		fputc(' ', out);
	while (*text) {
		size_t bytes = strcspn(text, " "), columns = word_columns(text, bytes);

		if (!line_empty && column + 1 + columns > width) {
			fprintf(out, "\n%*s", (int)wrapping->next_indent, "");
			column = wrapping->next_indent;
			line_empty = true;
			lines++;
		}
		if (!line_empty) {
			fputc(' ', out);
			column++;
		}
		if (lines == wrapping->lines && column + text_columns(text) > width) {
			write_rest(out, text, width - column);
			break;
		}
		if (column + columns > width) {
			bytes = bytes_within(text, width - column);
			columns = width - column;
		}
		fwrite(text, 1, bytes, out);
		column += columns;
		line_empty = false;
		text += bytes;
		text += strspn(text, " ");
	}
	fputc('\n', out);
	return lines;
}

size_t text_wrap_count(size_t width, const struct text_wrapping *wrapping, const char *text)
{
	struct text_wrapping unbounded = *wrapping;
	char *written = NULL;
	size_t size, lines = 1;
	FILE *out = open_memstream(&written, &size);

	unbounded.lines = 0;
	if (out) {
		lines = text_wrap_lines(out, width, &unbounded, text);
		fclose(out);
	}
	free(written);
	return lines;
}

void text_wrap(FILE *out, size_t width, const char *label, size_t indent, const char *text)
{
	text_wrap_lines(
		out, width,
		&(struct text_wrapping){.label = label, .indent = indent, .next_indent = indent},
		text);
}

struct text_table *text_table_new(const struct text_column *columns, size_t count)
{
	struct text_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->columns = columns;
	table->column_count = count;
	return table;
}

void text_table_free(struct text_table *table)
{
	if (!table)
		return;
	array_foreach(&table->cells, cell)
		free(*cell);
	array_free(&table->cells);
	free(table);
}

void text_table_cell(struct text_table *table, const char *text)
{
	char clean[TEXT_CELL_SIZE];
	char **cell = array_add(&table->cells);

	escape_terminal(clean, sizeof(clean), text);
	if (cell)
		*cell = strdup(clean);
	if (!cell || !*cell)
		table->failed = true;
}

void text_table_cellf(struct text_table *table, const char *format, ...)
{
	char text[TEXT_CELL_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	text_table_cell(table, text);
}

/* Width of each column; 0: every cell is empty, and the column is left out. */
static size_t measure(const struct text_table *table, size_t *widths)
{
	size_t total = 0;

	memset(widths, 0, table->column_count * sizeof(*widths));
	for (size_t i = 0; i < table->cells.count; i++) {
		size_t column = i % table->column_count;
		size_t columns = text_columns(table->cells.items[i]);
		size_t limit = table->columns[column].max_columns;

		if (limit && columns > limit)
			columns = limit;
		if (columns > widths[column])
			widths[column] = columns;
	}
	for (size_t i = 0; i < table->column_count; i++) {
		size_t title = text_columns(table->columns[i].title);

		if (table->cells.count && !widths[i])
			continue;
		widths[i] = widths[i] > title ? widths[i] : title;
		/* The first column has a gap too: tables stand indented under their heading. */
		total += widths[i] + COLUMN_GAP;
	}
	return total;
}

/* Leaves out expendable columns until the rest fits; returns its width. */
static size_t leave_out(const struct text_table *table, size_t *widths, size_t total, size_t width)
{
	while (total > width) {
		size_t out = table->column_count;

		for (size_t i = 0; i < table->column_count; i++)
			if (widths[i] && table->columns[i].expendable &&
			    (out == table->column_count ||
			     table->columns[i].expendable > table->columns[out].expendable))
				out = i;
		if (out == table->column_count)
			break;
		total -= widths[out] + COLUMN_GAP;
		widths[out] = 0;
	}
	return total;
}

static void fit(const struct text_table *table, size_t *widths, size_t width)
{
	size_t total = leave_out(table, widths, measure(table, widths), width);
	size_t excess = total > width ? total - width : 0;

	for (size_t i = table->column_count; i-- > 0 && excess;) {
		size_t give;

		if (!table->columns[i].flexible || widths[i] <= COLUMN_MIN)
			continue;
		give = widths[i] - COLUMN_MIN;
		if (give > excess)
			give = excess;
		widths[i] -= give;
		excess -= give;
	}
}

static void write_cell(FILE *out, const char *text, const struct text_column *column, size_t width,
		       size_t *pending)
{
	char cut[TEXT_CELL_SIZE];
	size_t columns;

	if (!width)
		return;
	snprintf(cut, sizeof(cut), "%s", text);
	text_cut(cut, width);
	columns = text_columns(cut);
	/* Spaces are kept back until something follows them: no line ends in one. */
	*pending += COLUMN_GAP + (column->left ? 0 : width - columns);
	if (cut[0]) {
		fprintf(out, "%*s%s", (int)*pending, "", cut);
		*pending = 0;
	}
	*pending += column->left ? width - columns : 0;
}

int text_table_write(const struct text_table *table, size_t width, FILE *out)
{
	size_t widths[32], pending;

	if (table->failed || table->column_count > ARRAY_SIZE(widths))
		return table->failed ? -ENOMEM : -EINVAL;
	fit(table, widths, width);
	pending = 0;
	for (size_t i = 0; i < table->column_count; i++)
		write_cell(out, table->columns[i].title, &table->columns[i], widths[i], &pending);
	fputc('\n', out);
	pending = 0;
	for (size_t i = 0; i < table->cells.count; i++) {
		size_t column = i % table->column_count;

		write_cell(out, table->cells.items[i], &table->columns[column], widths[column],
			   &pending);
		if (column + 1 == table->column_count) {
			fputc('\n', out);
			pending = 0;
		}
	}
	return 0;
}
