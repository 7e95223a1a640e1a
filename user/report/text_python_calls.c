// SPDX-License-Identifier: BSD-2-Clause
/* Prints counted Python functions as cProfile does, and counted lines. */
#include <errno.h>
#include <inttypes.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text_append.h"
#include "report/summary.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "rows/human.h"
#include "rows/python_calls.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

/* Of the page: titles, headings of columns, what is left out, and notes. */
#define OTHER_LINES 9
/* With fewer lines left, there is no table of lines. */
#define LEAST_WITH_LINES 4

static const struct text_column function_columns[] = {
	{.title = "ncalls"},
	{.title = "tottime"},
	{.title = "percall", .expendable = 1},
	{.title = "cumtime"},
	{.title = "percall", .expendable = 1},
	{.title = "filename:lineno(function)", .left = true, .flexible = true, .max_columns = 120},
};

static const struct text_column line_columns[] = {
	{.title = "hits"},
	{.title = "line"},
	{.title = "filename:lineno(function)", .left = true, .flexible = true, .max_columns = 120},
};

static void time_cell(struct text_table *table, uint64_t ns, uint64_t parts)
{
	text_table_cellf(table, "%.3f", (double)ns / NS_PER_SECOND / (double)(parts ? parts : 1));
}

/* Functions in C are in no stack. */
static void time_cells(struct text_table *table, const struct python_function *function,
		       bool has_times)
{
	if (!function->file[0] || !has_times) {
		for (int i = 0; i < 4; i++)
			text_table_cell(table, "-");
		return;
	}
	time_cell(table, function->self_ns, 1);
	time_cell(table, function->self_ns, function->calls);
	time_cell(table, function->total_ns, 1);
	time_cell(table, function->total_ns, function->primitive);
}

static void add_function(struct text_table *table, const struct python_function *function,
			 bool has_times)
{
	char text[PYTHON_FUNCTION_TEXT_SIZE];

	if (function->primitive == function->calls)
		text_table_cellf(table, "%" PRIu64, function->calls);
	else
		text_table_cellf(table, "%" PRIu64 "/%" PRIu64, function->calls,
				 function->primitive);
	time_cells(table, function, has_times);
	text_table_cell(table, python_function_text(text, function));
}

static void write_title(const struct text_report *report, const struct python_calls_rows *rows)
{
	char text[256] = "", number[HUMAN_SIZE];

	text_heading(report, "Python calls");
	text_append(text, sizeof(text), "%s", human_counted(number, rows->calls, "calls"));
	if (rows->primitive != rows->calls)
		text_append(text, sizeof(text), " (%s primitive)",
			    human_count(number, rows->primitive));
	text_append(text, sizeof(text), " of %s",
		    human_counted(number, rows->function_count, "functions"));
	text_append(text, sizeof(text), " in %s",
		    human_counted(number, rows->sums[PYTHON_CALL_PROCESSES], "processes"));
	text_wrap(report->out, report->width, " ", 1, text);
}

static void append_times(char *text, size_t size, const struct python_calls_rows *rows, uint32_t hz)
{
	static const char of_c[] = ", with those of functions in C in their callers";

	if (rows->has_samples)
		text_append(text, size, "times are sampled (CPU time at %" PRIu32 " Hz%s)%s", hz,
			    rows->has_waits ? ", and waits" : "", of_c);
	else if (rows->has_waits)
		text_append(text, size, "times are those of waits%s", of_c);
	else
		text_append(text, size,
			    "no times were recorded: they are those of the events cpu and offcpu");
}

static void write_notes(const struct text_report *report, const struct python_calls_rows *rows)
{
	uint32_t hz = profile_info_read(report->profile)->frequency_hz;
	char text[1024] = "", missing[768];

	text_append(text, sizeof(text), "calls are exact; ");
	append_times(text, sizeof(text), rows, hz);
	python_calls_notes(rows, missing, sizeof(missing));
	if (missing[0])
		text_append(text, sizeof(text), "; %s", missing);
	text_wrap(report->out, report->width, " ", 1, text);
}

static int write_functions(const struct text_report *report, const struct python_calls_rows *rows,
			   size_t most)
{
	size_t shown = rows->function_count < most ? rows->function_count : most;
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(function_columns, ARRAY_SIZE(function_columns));
	int err = table ? 0 : -ENOMEM;

	for (size_t i = 0; i < shown && !err; i++)
		add_function(table, &rows->functions[i], rows->has_samples || rows->has_waits);
	err = err ? err : text_table_write(table, report->width, report->out);
	text_more(report, rows->function_count - shown, "functions");
	return err;
}

static int write_lines(const struct text_report *report, const struct python_calls_rows *rows,
		       size_t most)
{
	size_t shown = rows->line_count < most ? rows->line_count : most;
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(line_columns, ARRAY_SIZE(line_columns));
	char text[PYTHON_FUNCTION_TEXT_SIZE];
	int err;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < shown; i++) {
		const struct python_line *line = &rows->lines[i];

		text_table_cellf(table, "%" PRIu64, line->hits);
		text_table_cellf(table, "%" PRIu32, line->line);
		text_table_cell(table,
				python_function_text(text, &rows->functions[line->function]));
	}
	err = text_table_write(table, report->width, report->out);
	text_more(report, rows->line_count - shown, "lines");
	return err;
}

static int write_calls(const struct text_report *report, size_t most)
{
	struct python_calls_rows rows;
	size_t functions;
	int err = python_calls_rows_make(&rows, report->profile);

	if (err)
		return err;
	write_title(report, &rows);
	functions = rows.line_count && most >= LEAST_WITH_LINES ? most / 2 : most;
	if (rows.function_count)
		err = write_functions(report, &rows, functions);
	if (!err && functions < most)
		err = write_lines(report, &rows, most - functions);
	write_notes(report, &rows);
	python_calls_rows_done(&rows);
	return err;
}

int text_python_calls(const struct text_report *report)
{
	/* Lines have as many as functions. */
	return profile_python_calls(report->profile)->items.count
		       ? write_calls(report, 2 * (size_t)report->options->top)
		       : 0;
}

int summary_python_calls(const struct summary *summary, size_t lines)
{
	return profile_python_calls(summary->report.profile)->items.count
		       ? write_calls(&summary->report,
				     lines > OTHER_LINES ? lines - OTHER_LINES : 1)
		       : 0;
}
