/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Aligned columns for a terminal. Every text that goes in is cleaned of what could move the cursor,
 * and no line is wider than `width` columns.
 */
#ifndef PKBPF_REPORT_TEXT_TABLE_H
#define PKBPF_REPORT_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Longest text of a cell, in bytes; longer ones are cut. */
#define TEXT_CELL_SIZE 512

/* Columns a clean UTF-8 text takes on a terminal: 0 for combining marks, 2 for wide characters. */
size_t text_columns(const char *text);
/* Cuts a clean text to at most `columns`, ending in "..." when something was cut and there is room
 * for it. */
void text_cut(char *text, size_t columns);
/*
 * Writes clean text behind `label`, wrapped at spaces with the following lines indented by `indent`
 * columns. Words wider than a line are broken.
 */
void text_wrap(FILE *out, size_t width, const char *label, size_t indent, const char *text);

struct text_wrapping {
	const char *label;
	size_t indent, next_indent; /* columns before the first line and before the others */
	size_t lines;		    /* the last one is cut; 0: as many as it takes */
};

/* Returns how many lines were written. */
size_t text_wrap_lines(FILE *out, size_t width, const struct text_wrapping *wrapping,
		       const char *text);

/* How many lines it takes, whatever their limit. */
size_t text_wrap_count(size_t width, const struct text_wrapping *wrapping, const char *text);

struct text_column {
	const char *title;
	bool left;	    /* aligned; else right */
	bool flexible;	    /* gives up width when the line would be too wide */
	size_t max_columns; /* 0: no limit of its own */
	/* Left out before any column gives up width, the highest number first; 0: never. */
	unsigned int expendable;
};

struct text_table;

/* columns outlives the table. NULL: out of memory. */
struct text_table *text_table_new(const struct text_column *columns, size_t count);
void text_table_free(struct text_table *table);
/* Next cell, row after row. Failing of memory is kept and reported by text_table_write(). */
void text_table_cell(struct text_table *table, const char *text);
void text_table_cellf(struct text_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* -ENOMEM when a cell could not be kept. */
int text_table_write(const struct text_table *table, size_t width, FILE *out);

#endif
