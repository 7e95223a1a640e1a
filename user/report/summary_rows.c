// SPDX-License-Identifier: BSD-2-Clause
/* Writes one line per process: what it used and what it waited for. */
#include <string.h>

#include "base/array.h"
#include "report/summary.h"
#include "report/text_rows.h"

#define COLUMNS 24

static void cell_active(struct text_table *table, const struct resource_row *row)
{
	text_rows_time(table, true, row_order_active_ns(row));
}

static void cell_threads(struct text_table *table, const struct resource_row *row)
{
	text_rows_count(table, row->threads ? row->threads : row->threads_seen);
}

static void cell_life(struct text_table *table, const struct resource_row *row)
{
	text_table_cell(table, row->started_inside ? row->ended_inside ? "short-lived" : "started"
			       : row->ended_inside ? "exited"
						   : "");
}

struct summary_column {
	struct row_column column;
	/* The order that it shows, which keeps it in the table; ROW_ORDER_COUNT: none. */
	enum row_order order;
};

#define COLUMN(title_, order_, expendable_, ...)                                                   \
	{                                                                                          \
		.column = {.text = {.title = title_, .expendable = expendable_},                   \
			   .hide_zero = true,                                                      \
			   ##__VA_ARGS__},                                                         \
		.order = ROW_ORDER_##order_,                                                       \
	}

/* What is expendable goes first where the line is too long: the highest number. */
static const struct summary_column columns[] = {
	COLUMN("threads", COUNT, 12, .cell = cell_threads,
	       .groupings = ~(1U << ROWS_BY_REGION | 1U << ROWS_BY_LABEL)),
	COLUMN("active", ACTIVE, 0, .cell = cell_active),
	COLUMN("%CPU", CPU, 0, .figure = "cpu.share"),
	COLUMN("user", USER, 9, .figure = "cpu.user"),
	COLUMN("sys", SYS, 8, .figure = "cpu.system"),
	COLUMN("run queue", RUNQUEUE, 1, .figure = "waiting.runqueue"),
	COLUMN("disk wait", DISK, 2, .figure = "offcpu.disk"),
	COLUMN("sleep", SLEEP, 16, .figure = "offcpu.sleep"),
	COLUMN("cswch", CSWCH, 4, .figure = "cpu.voluntary"),
	COLUMN("nvcswch", NVCSWCH, 10, .figure = "cpu.involuntary"),
	COLUMN("read", READ, 6, .figure = "blockio.read"),
	COLUMN("written", WRITTEN, 7, .figure = "blockio.written"),
	COLUMN("p99", P99, 13, .figure = "blockio.p99"),
	COLUMN("read", READ, 6, .figure = "storage.read", .hidden_with = ROW_HAS_BLOCKIO),
	COLUMN("dirtied", WRITTEN, 7, .figure = "storage.written", .hidden_with = ROW_HAS_BLOCKIO),
	COLUMN("RSS", RSS, 3, .figure = "memory.rss"),
	COLUMN("growth", GROWTH, 5, .figure = "memory.rss_growth"),
	COLUMN("minflt", MINFLT, 14, .figure = "memory.minor_faults"),
	COLUMN("majflt", MAJFLT, 11, .figure = "memory.major_faults"),
	{{{.title = "GPU", .expendable = 1}, .hide_zero = true, .figure = "gpu.share"},
	 ROW_ORDER_COUNT},
	{{{.title = "GPU spin", .expendable = 2}, .hide_zero = true, .figure = "gpu.spin"},
	 ROW_ORDER_COUNT},
	{{{.title = "GPU wait", .expendable = 3}, .hide_zero = true, .figure = "gpu.wait"},
	 ROW_ORDER_COUNT},
	{{{.title = "GPU mem", .expendable = 2}, .hide_zero = true, .figure = "gpu.memory"},
	 ROW_ORDER_COUNT},
	{{{.title = "", .left = true, .expendable = 15}, .cell = cell_life}, ROW_ORDER_COUNT},
};

/* "Process", "Processes, sorted by %CPU" */
static void write_heading(const struct summary *summary)
{
	static const char *const titles[ROWS_BY_COUNT][2] = {
		[ROWS_BY_PROCESS] = {"Process", "Processes"},
		[ROWS_BY_THREAD] = {"Thread", "Threads"},
		[ROWS_BY_CONTAINER] = {"Container or unit", "Containers and units"},
		[ROWS_BY_COMM] = {"Comm", "Comms"},
		[ROWS_BY_NAME] = {"Name", "Names"},
		[ROWS_BY_REGION] = {"Region", "Regions"},
		[ROWS_BY_LABEL] = {"Label", "Labels"},
	};
	const struct resource_rows *rows = summary->rows;

	if (rows->count == 1)
		text_heading(&summary->report, "%s (active: on-CPU, run queue, disk wait, D state)",
			     titles[rows->by][0]);
	else
		text_heading(&summary->report, "%s, sorted by %s", titles[rows->by][1],
			     row_order_text(summary->report.options->order));
}

int summary_processes(const struct summary *summary, size_t lines)
{
	const struct resource_rows *rows = summary->rows;
	struct report_options options = *summary->report.options;
	struct text_report report = summary->report;
	struct row_column chosen[COLUMNS];
	struct row_table table = {.columns = chosen, .count = ARRAY_SIZE(columns)};

	_Static_assert(ARRAY_SIZE(columns) <= COLUMNS, "a copy of each");
	if (!rows->count)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		chosen[i] = columns[i].column;
		if (columns[i].order == options.order) {
			chosen[i].text.expendable = 0;
			chosen[i].hide_zero = false;
		}
	}
	/* Beside the heading, the titles and what is left. */
	options.top = lines > 4 ? (unsigned int)lines - 2 : 1;
	if (options.top < rows->count)
		options.top -= options.top > 1;
	report.options = &options;
	write_heading(summary);
	return text_rows(&report, rows, &table);
}
