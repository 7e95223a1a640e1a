// SPDX-License-Identifier: BSD-2-Clause
/* Writes lines of source as comma-separated values: a record for each kind of events and line,
 * largest self weight first. */
#include "base/cleanup.h"
#include "base/unused.h"
#include "export/csv_cells.h"
#include "export/formats.h"
#include "rows/line_rows.h"

static void write_line(struct csv_cells *cells, const struct results *results,
		       const struct line_rows *lines, const struct line_row *row)
{
	const struct function *function = function_table_get(lines->functions, row->function);
	const struct kind_ops *kind = kind_ops_of(lines->kind);
	const char *text = line_rows_text(lines, row, results->profile, results->sources);

	csv_text(cells, kind->name);
	csv_text(cells, function->file);
	csv_u64(cells, function->line);
	csv_text(cells, function->name);
	csv_text(cells, csv_unit(kind->weight));
	csv_u64(cells, row->self);
	csv_u64(cells, row->total);
	csv_percent(cells, row->self, lines->weight);
	csv_percent(cells, row->total, lines->weight);
	csv_text(cells, text ? text : "");
	csv_end(cells);
}

static int write_kind(struct csv_cells *cells, const struct results *results,
		      enum pkbpf_profile_kind kind)
{
	_cleanup_(line_rows_done) struct line_rows lines;
	int err = line_rows_init(&lines, results->profile, kind);

	for (size_t i = 0; !err && i < lines.count; i++)
		write_line(cells, results, &lines, &lines.rows[i]);
	return err;
}

static int write_lines(struct results *results, _unused_ const struct format_options *options,
		       FILE *out)
{
	uint32_t recorded = profile_info_read(results->profile)->kinds_mask;
	struct csv_cells cells = {.out = out};
	int err = 0;

	fputs("kind,file,line,function,unit,self,total,self_percent,total_percent,"
	      "text" CSV_LINE_END,
	      out);
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS && !err; kind++)
		if (recorded & 1U << kind)
			err = write_kind(&cells, results, kind);
	return err;
}

const struct format_ops format_csv_lines = {
	.file = {"csv-lines", ".lines.csv", "lines of source of each kind of events"},
	.needs_lines = true,
	.only_stacks = true,
	.write = write_lines,
};
