// SPDX-License-Identifier: BSD-2-Clause
/* Writes the rows of the resource report as comma-separated values (RFC 4180), a column per
 * figure. */
#include <inttypes.h>
#include <stdbool.h>

#include "base/escape.h"
#include "base/unused.h"
#include "profile/kind_table.h"
#include "rows/figure_table.h"
#include "export/formats.h"

#define LINE_END "\r\n"

static void write_heading(FILE *out, enum rows_by by)
{
	const struct figure *figure;

	fprintf(out, "pid,tid,%s,container,processes,started_inside,ended_inside,lifetime_ns",
		by == ROWS_BY_REGION ? "region" : "comm");
	for (size_t i = 0; (figure = figure_at(i)); i++)
		if (figure->scope == FIGURE_OF_ROW)
			fprintf(out, ",%s.%s%s", figure->group, figure->name,
				figure_unit_suffix(figure->unit));
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		fprintf(out, ",hottest.%s", kind_ops_of(kind)->name);
	fputs(LINE_END, out);
}

/* What does not apply is an empty cell. */
static void write_figure(FILE *out, const struct figure *figure, const struct resource_row *row)
{
	double value = 0;

	fputc(',', out);
	if (!figure_known(figure, row))
		return;
	if (figure->unit == FIGURE_PERCENT) {
		figure_value(figure, NULL, row, &value);
		fprintf(out, "%.3f", value);
	} else if (figure->unit == FIGURE_SIGNED_BYTES) {
		fprintf(out, "%" PRId64, (int64_t)figure_u64(figure, row));
	} else {
		fprintf(out, "%" PRIu64, figure_u64(figure, row));
	}
}

/* The function at the leaf of the hottest stack. */
static void write_hottest(FILE *out, const struct resource_rows *rows,
			  const struct row_stack *stack)
{
	size_t count = 0;
	const uint32_t *functions = NULL;

	fputc(',', out);
	if (stack->stack != ROW_NO_STACK)
		functions = resource_rows_stack(rows, stack->stack, &count);
	if (count)
		escape_csv(out, function_table_get(rows->functions, functions[0])->name);
}

static void write_row(FILE *out, const struct resource_rows *rows, const struct resource_row *row)
{
	const struct figure *figure;

	if (row->pid)
		fprintf(out, "%" PRIu32, row->pid);
	fputc(',', out);
	if (row->tid)
		fprintf(out, "%" PRIu32, row->tid);
	fputc(',', out);
	escape_csv(out, row->name);
	fputc(',', out);
	escape_csv(out, row->container);
	fprintf(out, ",%" PRIu64 ",%d,%d,%" PRIu64, row->processes, row->started_inside,
		row->ended_inside, row->lifetime_ns);
	for (size_t i = 0; (figure = figure_at(i)); i++)
		if (figure->scope == FIGURE_OF_ROW)
			write_figure(out, figure, row);
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		write_hottest(out, rows, &row->stacks[kind]);
	fputs(LINE_END, out);
}

static int csv_write(struct results *results, _unused_ const struct format_options *options,
		     FILE *out)
{
	const struct resource_rows *rows;
	int err = results_rows(results, &rows);

	if (err)
		return err;
	write_heading(out, rows->by);
	for (size_t i = 0; i < rows->count; i++)
		write_row(out, rows, &rows->items[i]);
	return 0;
}

const struct format_ops format_csv = {
	.file = {"csv", ".csv", "rows of the resource report"},
	.write = csv_write,
};
