/* SPDX-License-Identifier: BSD-2-Clause */
/* The text report: a page with the answer, or all there is. */
#ifndef PKBPF_REPORT_REPORT_H
#define PKBPF_REPORT_REPORT_H

#include <stdio.h>

#include "finding/results.h"
#include "report/row_order.h"

/* Widths of a line: below the least, columns have no room; beyond the most, lines are hard to read.
 */
#define REPORT_WIDTH_MIN     80
#define REPORT_WIDTH_MAX     200
#define REPORT_WIDTH_DEFAULT 100 /* where there is no terminal */
/* Lines of the page. */
#define REPORT_LINES_OF_TARGETS 40
#define REPORT_LINES_OF_HOST	60

struct report_options {
	unsigned int top;   /* rows per table of the full report */
	unsigned int width; /* columns of a line; 0: the default; limited to the above */
	enum row_order order;
	bool full;    /* all tables; of trees, all paths and frames */
	bool tree;    /* call trees instead of tables */
	bool by_line; /* tables of source lines, and no others */
	bool color;
	bool details; /* with counters and legends that ask nothing of the reader */
	bool lines;   /* file:line of functions */
};

/* Errors of the stream are the caller's to find. -ENOMEM. */
int report_write(struct results *results, const struct report_options *options, FILE *out);

#endif
