/* SPDX-License-Identifier: BSD-2-Clause */
/* A screen as text: lines of clean UTF-8 with an attribute for each byte. The terminal paints it,
 * a batch run prints it, a test reads it. */
#ifndef PKBPF_TOP_TOP_SCREEN_H
#define PKBPF_TOP_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TOP_LINE_SIZE 1024

enum top_attribute {
	TOP_PLAIN,
	TOP_BOLD,
	TOP_DIM,
	TOP_TITLE,  /* of the columns */
	TOP_SORTED, /* title of the column that sorts */
	TOP_CURSOR,
	TOP_ALERT,
	TOP_ATTRIBUTES,
};

struct top_line {
	char text[TOP_LINE_SIZE];
	unsigned char attributes[TOP_LINE_SIZE]; /* enum top_attribute */
	size_t bytes, columns;
	size_t width;
};

struct top_screen {
	struct top_line *lines;
	size_t height, width;
	size_t used;
	struct top_line spare; /* what is written below the last line */
};

/* -ENOMEM. */
int top_screen_init(struct top_screen *screen, size_t width, size_t height);
void top_screen_done(struct top_screen *screen);
void top_screen_clear(struct top_screen *screen);
/* The next line, empty; below the last one a line that is not shown. */
struct top_line *top_screen_line(struct top_screen *screen);
size_t top_screen_left(const struct top_screen *screen);

/* Appends text; what could move the cursor is replaced, what does not fit is cut off. */
void top_add(struct top_line *line, enum top_attribute attribute, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Spaces up to this column, from 0. */
void top_pad(struct top_line *line, enum top_attribute attribute, size_t column);
/* Gives the whole line, up to its end, one attribute. */
void top_mark_line(struct top_line *line, enum top_attribute attribute);

#endif
