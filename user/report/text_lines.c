// SPDX-License-Identifier: BSD-2-Clause
/* Prints the lines of source with the most weight, and their text where it can be read. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "profile/kind_table.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "rows/human.h"
#include "rows/line_rows.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

static void add_line(struct text_table *table, const struct text_report *report,
		     const struct line_rows *lines, const struct line_row *row, bool with_text)
{
	const struct function *function = function_table_get(lines->functions, row->function);
	const char *text;
	char buffer[HUMAN_SIZE];

	text_table_cell(table, human_share(buffer, row->self, lines->weight));
	text_table_cell(table, human_weight(buffer, lines->kind, row->self));
	text_table_cell(table, human_share(buffer, row->total, lines->weight));
	text_table_cellf(table, "%s:%u", function_file_name(function),
			 (unsigned int)function->line);
	text_table_cell(table, function->name);
	if (!with_text)
		return;
	text = line_rows_text(lines, row, report->profile, report->sources);
	text_table_cell(table, text ? text : "");
}

static bool has_text(const struct text_report *report, const struct line_rows *lines, size_t shown)
{
	for (size_t i = 0; i < shown; i++)
		if (line_rows_text(lines, &lines->rows[i], report->profile, report->sources))
			return true;
	return false;
}

static int write_lines(const struct text_report *report, const struct line_rows *lines,
		       size_t available)
{
	const struct kind_ops *kind = kind_ops_of(lines->kind);
	size_t shown = available < report->options->top ? available : report->options->top;
	bool with_text = has_text(report, lines, shown);
	const struct text_column columns[] = {
		{.title = "self"},
		{.title = kind_measure(kind)},
		{.title = "total"},
		{.title = "line", .left = true, .max_columns = 32},
		{.title = "function", .left = true, .flexible = true, .max_columns = 24},
		{.title = "source", .left = true, .flexible = true},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns) - !with_text);
	int err;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < shown; i++)
		add_line(table, report, lines, &lines->rows[i], with_text);
	text_heading(report, "%s: hottest lines by self (with callees without known lines)",
		     kind->title);
	err = text_table_write(table, report->width, report->out);
	if (!err)
		text_more(report, available - shown, "lines");
	return err;
}

int text_lines(const struct text_report *report, enum pkbpf_profile_kind kind, bool *ret_known)
{
	_cleanup_(line_rows_done) struct line_rows lines;
	size_t available = 0;
	int err = line_rows_init(&lines, report->profile, kind);

	if (err)
		return err;
	*ret_known = lines.count > 0;
	while (available < lines.count && lines.rows[available].self)
		available++;
	return available ? write_lines(report, &lines, available) : 0;
}

int text_all_lines(const struct text_report *report)
{
	bool is_known = false, has_rows = false;
	int err = 0;

	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS && !err; kind++) {
		bool is_known_of_kind = false;

		if (!text_kind_has_rows(report->profile, kind))
			continue;
		has_rows = true;
		if (!report->options->full)
			fputc('\n', report->out);
		err = text_lines(report, kind, &is_known_of_kind);
		is_known = is_known || is_known_of_kind;
	}
	if (!err && !is_known)
		text_wrap(report->out, report->width, "", 0,
			  has_rows ? LINE_ROWS_NONE : TEXT_NOTHING);
	return err;
}
