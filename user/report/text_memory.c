// SPDX-License-Identifier: BSD-2-Clause
/* Prints the memory of processes over time. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "rows/memory_series.h"
#include "rows/human.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

static void bytes_cell(struct text_table *table, uint64_t bytes)
{
	char buffer[HUMAN_SIZE];

	text_table_cell(table, bytes ? human_bytes(buffer, bytes) : ".");
}

static void write_row(struct text_table *table, const struct memory_row *row, uint64_t start_ns)
{
	const struct memory_point *last = memory_row_last(row);

	text_table_cellf(table, "%" PRIu32, last->pid);
	bytes_cell(table, memory_point_rss(row->points[0]));
	bytes_cell(table, memory_point_rss(last));
	bytes_cell(table, memory_row_mean(row));
	bytes_cell(table, row->peak_bytes);
	if (row->peak_at_ns >= start_ns)
		text_table_cellf(table, "%.1f s",
				 (double)(row->peak_at_ns - start_ns) / NS_PER_SECOND);
	else
		text_table_cell(table, "before");
	bytes_cell(table, last->anonymous);
	bytes_cell(table, last->file);
	bytes_cell(table, last->shared);
	bytes_cell(table, last->swap);
	text_table_cell(table, last->comm);
}

static int write_table(const struct text_report *report, const struct memory_row *rows,
		       size_t count)
{
	static const struct text_column columns[] = {
		{.title = "pid"},
		{.title = "RSS at start"},
		{.title = "at end"},
		{.title = "mean"},
		{.title = "peak"},
		{.title = "peak at"},
		{.title = "anonymous", .expendable = 2},
		{.title = "file", .expendable = 3},
		{.title = "shared", .expendable = 4},
		{.title = "swap", .expendable = 1},
		{.title = "comm", .left = true, .flexible = true},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		write_row(table, &rows[i], profile_info_read(report->profile)->start_ns);
	return text_table_write(table, report->width, report->out);
}

int text_memory(const struct text_report *report)
{
	_cleanup_(memory_rows_done) struct memory_rows rows = {0};
	uint32_t regions = 1;
	size_t shown;
	int err = memory_rows_make(report->profile, &rows);

	if (err || !rows.count)
		return err;
	shown = rows.count < report->options->top ? rows.count : report->options->top;
	text_heading(report, "Memory over time");
	err = write_table(report, rows.items, shown);
	if (!err)
		text_more(report, rows.count - shown, "processes");
	for (size_t i = 0; i < rows.count; i++)
		if (memory_row_last(&rows.items[i])->regions > regions)
			regions = memory_row_last(&rows.items[i])->regions;
	if (!err && regions > 1)
		text_wrap(report->out, report->width, "", 1,
			  "(Resident bytes by stack are estimates in processes with many page "
			  "faults: some regions of 2 MiB stand for all.)");
	return err;
}
