/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of the live table, each a row of a table. */
#ifndef PKBPF_TOP_TOP_COLUMNS_H
#define PKBPF_TOP_TOP_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "rows/resource_rows.h"

#define TOP_CELL_SIZE 64
/* A set of columns has a bit each. */
#define TOP_COLUMNS_MAX 32

enum top_unit {
	TOP_UNIT_TEXT,
	TOP_UNIT_NUMBER, /* an identifier: not shortened */
	TOP_UNIT_PERCENT,
	TOP_UNIT_COUNT,
	TOP_UNIT_BYTES,
	TOP_UNIT_NS,
};

struct top_column {
	const char *title, *explanation;
	enum top_unit unit;
	size_t width;
	bool left;
	/* Left out where the line is too narrow, the highest number first; 0: never. */
	unsigned int expendable;
	/* 1 << enum rows_by of those that have it; 0: all. */
	unsigned int groupings;
	/* 1 << kind of events that it needs one of; 0: none. */
	unsigned int kinds;
	/* enum row_known of which the total has one; 0: none. */
	unsigned int known;
	const char *figure; /* NULL: value */
	bool is_rate;	    /* shown per second */
	/* false: not known. */
	bool (*value)(const struct resource_rows *rows, const struct resource_row *row,
		      double *ret_value);
	const char *(*text)(const struct resource_row *row);
};

/* NULL at the end. */
const struct top_column *top_column_at(size_t index);
/* Index of the column of this grouping with this title, without regard to case; -1: there is none.
 */
int top_column_find(const char *title, enum rows_by by);
bool top_column_has(const struct top_column *column, enum rows_by by);
/* Is there anything for it? kinds: 1 << kind of recorded events; known: of the total. */
bool top_column_is_fed(const struct top_column *column, uint32_t kinds, unsigned int known);
/* Of a column that is no text; false: not known. */
bool top_column_value(const struct top_column *column, const struct resource_rows *rows,
		      const struct resource_row *row, double *ret_value);
/* "12.3", "4.1M", "850us"; with a sign when it is a difference. */
void top_column_format(enum top_unit unit, double value, bool is_difference,
		       char ret_text[TOP_CELL_SIZE]);

#endif
