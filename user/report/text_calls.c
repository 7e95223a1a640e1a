// SPDX-License-Identifier: BSD-2-Clause
/* Prints the functions whose calls were seen: how many, how long, and where that time went. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text_append.h"
#include "report/summary.h"
#include "report/text_region_cells.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "rows/human.h"
#include "rows/region_list.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

/* Of the page: a title, a heading of columns, and lines for what needs explaining. */
#define OTHER_LINES 5

static const struct text_column columns[] = {
	{.title = "function", .left = true, .flexible = true, .max_columns = 48},
	{.title = "calls"},
	{.title = "total"},
	{.title = "self"},
	{.title = "on-CPU", .expendable = 2},
	{.title = "run queue", .expendable = 1},
	{.title = "sleep", .expendable = 2},
	{.title = "disk", .expendable = 1},
	{.title = "p50"},
	{.title = "p95", .expendable = 3},
	{.title = "p99"},
	{.title = "max"},
};

static void add_line(struct text_table *table, const struct region_line *line)
{
	const struct region_sums *sums = &line->sums;
	bool is_measured = sums->count + sums->recursive;
	char calls[HUMAN_SIZE], outermost[HUMAN_SIZE];

	text_table_cell(table, line->name);
	human_count(calls, region_line_calls(line));
	/* As profilers of Python write recursion. */
	if (sums->recursive)
		text_table_cellf(table, "%s/%s", calls, human_count(outermost, sums->count));
	else
		text_table_cellf(table, "%s%s", calls, line->is_let_go ? "+" : "");
	text_region_time(table, sums->total_ns, is_measured);
	text_region_time(table, line->self_ns, is_measured);
	text_region_parts(table, sums);
	text_region_time(table, line->p50_ns, is_measured);
	text_region_time(table, line->p95_ns, is_measured);
	text_region_time(table, line->p99_ns, is_measured);
	text_region_time(table, sums->max_ns, is_measured);
}

static void write_notes(const struct text_report *report, const struct region_list *list)
{
	uint64_t not_returned = 0, unfinished = 0, unmeasured = 0;
	char text[512] = "", number[HUMAN_SIZE];
	bool any_let_go = false;

	for (size_t i = 0; i < list->count; i++) {
		const struct region_line *line = &list->lines[i];

		if (!line->is_function)
			continue;
		not_returned += line->sums.lost_end;
		unfinished += line->sums.unfinished;
		unmeasured += line->sums.unmeasured;
		any_let_go |= line->is_let_go;
	}
	if (unmeasured)
		text_append(text, sizeof(text), "%s only counted, not measured; ",
			    human_counted(number, unmeasured, "calls"));
	if (any_let_go)
		text_append(text, sizeof(text),
			    "+: called more often, but probes cost more than --probe-cost "
			    "and were taken off; ");
	if (unfinished)
		text_append(text, sizeof(text), "%s unfinished at the end; ",
			    human_counted(number, unfinished, "calls"));
	if (not_returned)
		text_append(text, sizeof(text), "%s ended without a return; ",
			    human_counted(number, not_returned, "calls"));
	text_append(text, sizeof(text), "inlined calls are not seen; ");
	text[strlen(text) - 2] = '\0';
	text_wrap(report->out, report->width, " ", 2, text);
}

static int write_all(const struct text_report *report, const struct region_list *list, size_t lines)
{
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));
	size_t shown = 0, count = 0;
	int err;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++) {
		if (!list->lines[i].is_function)
			continue;
		if (count++ < lines) {
			add_line(table, &list->lines[i]);
			shown++;
		}
	}
	if (!shown)
		return 0;
	text_heading(report, "Calls (times: of those measured; shares: of the total)");
	err = text_table_write(table, report->width, report->out);
	text_more(report, count - shown, "functions");
	if (!err)
		write_notes(report, list);
	return err;
}

static int write_calls(const struct text_report *report, size_t lines)
{
	_cleanup_(region_list_done) struct region_list list = {0};
	int err;

	if (!region_table_count(profile_regions(report->profile)) || !lines)
		return 0;
	err = region_list_init(&list, report->profile, REGION_BY_NAME);
	return err ? err : write_all(report, &list, lines);
}

int text_calls(const struct text_report *report)
{
	return write_calls(report, SIZE_MAX);
}

int summary_calls(const struct summary *summary, size_t lines)
{
	return write_calls(&summary->report, lines > OTHER_LINES ? lines - OTHER_LINES : 0);
}
