// SPDX-License-Identifier: BSD-2-Clause
/* Writes counted Python functions and lines as comma-separated values. */
#include "base/unused.h"
#include "export/csv_cells.h"
#include "export/formats.h"
#include "rows/python_calls.h"

static void write_names(struct csv_cells *cells, const struct python_function *function)
{
	csv_text(cells, function->file);
	if (function->file[0])
		csv_u64(cells, function->line);
	else
		csv_text(cells, "");
	csv_text(cells, function->name);
	csv_text(cells, function->qualified);
}

/* Functions in C are in no stack. */
static void write_time(struct csv_cells *cells, const struct python_function *function, uint64_t ns)
{
	if (function->file[0])
		csv_u64(cells, ns);
	else
		csv_text(cells, "");
}

static int write_calls(struct results *results, _unused_ const struct format_options *options,
		       FILE *out)
{
	struct csv_cells cells = {.out = out};
	struct python_calls_rows rows;
	int err = python_calls_rows_make(&rows, results->profile);

	if (err)
		return err;
	fputs("file,first_line,function,qualified_name,calls,primitive_calls,self_ns,"
	      "total_ns" CSV_LINE_END,
	      out);
	for (size_t i = 0; i < rows.function_count; i++) {
		const struct python_function *function = &rows.functions[i];

		write_names(&cells, function);
		csv_u64(&cells, function->calls);
		csv_u64(&cells, function->primitive);
		write_time(&cells, function, function->self_ns);
		write_time(&cells, function, function->total_ns);
		csv_end(&cells);
	}
	python_calls_rows_done(&rows);
	return 0;
}

static int write_lines(struct results *results, _unused_ const struct format_options *options,
		       FILE *out)
{
	struct csv_cells cells = {.out = out};
	struct python_calls_rows rows;
	int err = python_calls_rows_make(&rows, results->profile);

	if (err)
		return err;
	fputs("file,first_line,function,qualified_name,line,hits" CSV_LINE_END, out);
	for (size_t i = 0; i < rows.line_count; i++) {
		write_names(&cells, &rows.functions[rows.lines[i].function]);
		csv_u64(&cells, rows.lines[i].line);
		csv_u64(&cells, rows.lines[i].hits);
		csv_end(&cells);
	}
	python_calls_rows_done(&rows);
	return 0;
}

const struct format_ops format_csv_python_calls = {
	.file = {"csv-python-calls", ".python-calls.csv", "Python functions of --python-calls"},
	.only_stacks = true,
	.write = write_calls,
};

const struct format_ops format_csv_python_lines = {
	.file = {"csv-python-lines", ".python-lines.csv", "Python lines of --python-lines"},
	.only_stacks = true,
	.write = write_lines,
};
