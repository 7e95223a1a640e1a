// SPDX-License-Identifier: BSD-2-Clause
#include "export/csv_cells.h"

#include <inttypes.h>

#include "base/escape.h"

static void begin_cell(struct csv_cells *cells)
{
	if (cells->inside)
		fputc(',', cells->out);
	cells->inside = true;
}

void csv_text(struct csv_cells *cells, const char *text)
{
	begin_cell(cells);
	escape_csv(cells->out, text);
}

void csv_u64(struct csv_cells *cells, uint64_t value)
{
	begin_cell(cells);
	fprintf(cells->out, "%" PRIu64, value);
}

void csv_i64(struct csv_cells *cells, int64_t value)
{
	begin_cell(cells);
	fprintf(cells->out, "%" PRId64, value);
}

void csv_decimal(struct csv_cells *cells, double value)
{
	begin_cell(cells);
	fprintf(cells->out, "%.3f", value);
}

void csv_percent(struct csv_cells *cells, uint64_t part, uint64_t total)
{
	if (total)
		csv_decimal(cells, 100 * (double)part / (double)total);
	else
		begin_cell(cells);
}

void csv_end(struct csv_cells *cells)
{
	fputs(CSV_LINE_END, cells->out);
	cells->inside = false;
}

const char *csv_unit(enum profile_weight weight)
{
	static const char *const units[] = {
		[PROFILE_WEIGHT_COUNT] = "count",
		[PROFILE_WEIGHT_NS] = "ns",
		[PROFILE_WEIGHT_BYTES] = "bytes",
	};

	return units[weight];
}
