// SPDX-License-Identifier: BSD-2-Clause
#include "mcp/mcp_answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

#define CUT "..."

void mcp_answer_begin(struct mcp_answer *answer, size_t most, size_t offset)
{
	*answer = (struct mcp_answer){.most = most, .offset = offset};
	answer->text = calloc(1, most + 1);
	answer->failed = !answer->text;
}

/* One line, safe to show; returns its length with the line's end. */
__attribute__((format(printf, 2, 0))) static size_t
format_line(char line[MCP_ANSWER_LINE + 1], const char *format, va_list arguments)
{
	char raw[2 * MCP_ANSWER_LINE];
	int length = vsnprintf(raw, sizeof(raw), format, arguments);

	escape_terminal(line, MCP_ANSWER_LINE - sizeof(CUT), raw);
	/* What is escaped is never longer: a shorter line was cut. */
	if (length >= (int)(MCP_ANSWER_LINE - sizeof(CUT)))
		strcat(line, CUT);
	strcat(line, "\n");
	return strlen(line);
}

static bool add(struct mcp_answer *answer, const char *line, size_t length, size_t most)
{
	if (answer->failed || answer->size + length > most)
		return false;
	memcpy(answer->text + answer->size, line, length + 1);
	answer->size += length;
	return true;
}

static __attribute__((format(printf, 3, 0))) bool add_line(struct mcp_answer *answer, size_t most,
							   const char *format, va_list arguments)
{
	char line[MCP_ANSWER_LINE + 1];

	return add(answer, line, format_line(line, format, arguments), most);
}

void mcp_answer_head(struct mcp_answer *answer, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_line(answer, answer->most - MCP_ANSWER_TAIL, format, arguments);
	va_end(arguments);
}

bool mcp_answer_row(struct mcp_answer *answer, const char *format, ...)
{
	va_list arguments;

	if (answer->rows++ < answer->offset)
		return true;
	if (answer->is_full)
		return false;
	va_start(arguments, format);
	answer->is_full = !add_line(answer, answer->most - MCP_ANSWER_TAIL, format, arguments);
	va_end(arguments);
	answer->shown += !answer->is_full;
	return !answer->is_full;
}

bool mcp_answer_end_rows(struct mcp_answer *answer)
{
	size_t next = answer->offset + answer->shown;

	if (answer->offset && answer->offset >= answer->rows)
		mcp_answer_note(answer, "no row at offset %zu: there are %zu", answer->offset,
				answer->rows);
	else if (next < answer->rows)
		mcp_answer_note(answer, "more: %zu rows; ask again with offset=%zu",
				answer->rows - next, next);
	return !answer->failed;
}

void mcp_answer_note(struct mcp_answer *answer, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_line(answer, answer->most, format, arguments);
	va_end(arguments);
}

void mcp_answer_done(struct mcp_answer *answer)
{
	free(answer->text);
	answer->text = NULL;
}
