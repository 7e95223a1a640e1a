// SPDX-License-Identifier: BSD-2-Clause
/* Writes the rows of the resource report as comma-separated values (RFC 4180), a column per
 * figure. */
#include "base/unused.h"
#include "export/csv_cells.h"
#include "export/formats.h"
#include "profile/kind_table.h"
#include "rows/figure_table.h"

static void write_heading(FILE *out, enum rows_by by)
{
	const struct figure *figure;

	fprintf(out, "pid,tid,%s,container,processes,started_inside,ended_inside,lifetime_ns",
		rows_are_of_regions(by) ? rows_grouping_name(by) : "comm");
	for (size_t i = 0; (figure = figure_at(i)); i++)
		if (figure->scope == FIGURE_OF_ROW)
			fprintf(out, ",%s.%s%s", figure->group, figure->name,
				figure_unit_suffix(figure->unit));
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		fprintf(out, ",hottest.%s", kind_ops_of(kind)->name);
	fputs(CSV_LINE_END, out);
}

static void write_figure(struct csv_cells *cells, const struct figure *figure,
			 const struct resource_row *row)
{
	double value = 0;

	if (!figure_known(figure, row)) {
		csv_text(cells, "");
	} else if (figure->unit == FIGURE_PERCENT) {
		figure_value(figure, NULL, row, &value);
		csv_decimal(cells, value);
	} else if (figure->unit == FIGURE_SIGNED_BYTES) {
		csv_i64(cells, (int64_t)figure_u64(figure, row));
	} else {
		csv_u64(cells, figure_u64(figure, row));
	}
}

/* The function at the leaf of the hottest stack. */
static void write_hottest(struct csv_cells *cells, const struct resource_rows *rows,
			  const struct row_stack *stack)
{
	size_t count = 0;
	const uint32_t *functions = NULL;

	if (stack->stack != ROW_NO_STACK)
		functions = resource_rows_stack(rows, stack->stack, &count);
	csv_text(cells, count ? function_table_get(rows->functions, functions[0])->name : "");
}

static void write_id(struct csv_cells *cells, uint32_t id)
{
	if (id)
		csv_u64(cells, id);
	else
		csv_text(cells, "");
}

static void write_row(struct csv_cells *cells, const struct resource_rows *rows,
		      const struct resource_row *row)
{
	const struct figure *figure;

	write_id(cells, row->pid);
	write_id(cells, row->tid);
	csv_text(cells, row->name);
	csv_text(cells, row->container);
	csv_u64(cells, row->processes);
	csv_u64(cells, row->started_inside);
	csv_u64(cells, row->ended_inside);
	csv_u64(cells, row->lifetime_ns);
	for (size_t i = 0; (figure = figure_at(i)); i++)
		if (figure->scope == FIGURE_OF_ROW)
			write_figure(cells, figure, row);
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		write_hottest(cells, rows, &row->stacks[kind]);
	csv_end(cells);
}

static int csv_write(struct results *results, _unused_ const struct format_options *options,
		     FILE *out)
{
	struct csv_cells cells = {.out = out};
	const struct resource_rows *rows;
	int err = results_rows(results, &rows);

	if (err)
		return err;
	write_heading(out, rows->by);
	for (size_t i = 0; i < rows->count; i++)
		write_row(&cells, rows, &rows->items[i]);
	return 0;
}

const struct format_ops format_csv = {
	.file = {"csv", ".csv", "rows of the resource report"},
	.write = csv_write,
};
