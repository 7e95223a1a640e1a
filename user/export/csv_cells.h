/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes records of comma-separated values (RFC 4180), a cell after the other. */
#ifndef PKBPF_EXPORT_CSV_CELLS_H
#define PKBPF_EXPORT_CSV_CELLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/kind_table.h"

#define CSV_LINE_END "\r\n"

/* Zero-initialised but for out: at the beginning of a record. Errors are those of the stream. */
struct csv_cells {
	FILE *out;
	bool inside; /* a record */
};

/* Safe for spreadsheets and terminals, see base/escape.h; "" is an empty cell, as of a value that
 * does not apply. */
void csv_text(struct csv_cells *cells, const char *text);
void csv_u64(struct csv_cells *cells, uint64_t value);
void csv_i64(struct csv_cells *cells, int64_t value);
void csv_decimal(struct csv_cells *cells, double value); /* three places */
/* A part of a total; empty when the total is 0. */
void csv_percent(struct csv_cells *cells, uint64_t part, uint64_t total);
void csv_end(struct csv_cells *cells);
/* "count", "ns" or "bytes", in a column of its own: a table can have several. */
const char *csv_unit(enum profile_weight weight);

#endif
