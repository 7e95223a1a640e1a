/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of joined rows, with a column per figure. */
#ifndef PKBPF_REPORT_TEXT_ROWS_H
#define PKBPF_REPORT_TEXT_ROWS_H

#include "report/text_sections.h"
#include "report/text_table.h"

struct row_column {
	struct text_column text;
	const char *figure; /* "cpu.user", which also says how it is shown; NULL: cell does */
	void (*cell)(struct text_table *table, const struct resource_row *row);
	/* Bits of resource_row.known that the sum of all rows must have for the column to be there;
	 * 0: those that the figure needs. */
	unsigned int shown_with;
	unsigned int hidden_with; /* and those that another table tells the same by, and better */
	unsigned int groupings;	  /* 1 << enum rows_by; 0: all */
	bool hide_zero;		  /* not there when no row has anything in it */
};

/* Columns behind those that say whose the row is. */
struct row_table {
	const struct row_column *columns;
	size_t count;
	bool (*has)(const struct resource_row *row); /* NULL: all rows */
};

/* Of as many rows as are wanted. -ENOMEM; -EINVAL: there is no such figure. */
int text_rows(const struct text_report *report, const struct resource_rows *rows,
	      const struct row_table *table);
/* Cells: the container or unit of a row, empty: unknown. */
void text_rows_container(struct text_table *table, const struct resource_row *row);
/* "1,234", "12.3k", "4.56M": three digits of large counts. */
void text_rows_count(struct text_table *table, uint64_t count);
/* "12.3 ms", "." zero, "-" unknown. */
void text_rows_time(struct text_table *table, bool is_known, uint64_t time_ns);

#endif
