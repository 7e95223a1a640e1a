/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of an answer: a head, rows from an offset on while there is room, notes, and how many
 * rows are left. Names in it come from targets: control characters are replaced, long lines are
 * cut. One owner thread.
 */
#ifndef PKBPF_MCP_MCP_ANSWER_H
#define PKBPF_MCP_MCP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

/* Code, numbers and names: tokenizers make a token of three to five bytes of it. */
#define MCP_BYTES_PER_TOKEN 3
/* Room for notes and the count of what is left. */
#define MCP_ANSWER_TAIL 1200
#define MCP_ANSWER_LINE 700

struct mcp_answer {
	char *text; /* owned; NUL-terminated */
	size_t size, most;
	size_t offset;	    /* rows that are left out at the begin */
	size_t rows, shown; /* rows so far, and those in the text */
	bool is_full, failed;
};

/* most: bytes of the text, at least 2 * MCP_ANSWER_TAIL. */
void mcp_answer_begin(struct mcp_answer *answer, size_t most, size_t offset);
/* A line of the head: it stands in every page. */
void mcp_answer_head(struct mcp_answer *answer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A row; one that does not fit ends the page. false: the page is full, further rows only count. */
bool mcp_answer_row(struct mcp_answer *answer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Writes how many rows follow, if any. Returns false where memory was short. */
bool mcp_answer_end_rows(struct mcp_answer *answer);
/* A line behind the rows; at most MCP_ANSWER_TAIL bytes of them. */
void mcp_answer_note(struct mcp_answer *answer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void mcp_answer_done(struct mcp_answer *answer);

#endif
