// SPDX-License-Identifier: BSD-2-Clause
/* Prints the joined account in a few tables, and what it comes to. */
#include "base/array.h"
#include "base/escape.h"
#include "report/text_rows.h"
#include "rows/human.h"

#define OF_PROCESSES	(1U << ROWS_BY_CONTAINER | 1U << ROWS_BY_COMM | 1U << ROWS_BY_NAME)
#define ALL_BUT_THREADS (1U << ROWS_BY_PROCESS | OF_PROCESSES)

static void cell_processes(struct text_table *table, const struct resource_row *row)
{
	text_rows_count(table, row->processes);
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

/* Uninterruptible without I/O (a lock in the kernel, a vfork child), and stopped. */
static void cell_other_waits(struct text_table *table, const struct resource_row *row)
{
	text_rows_time(table, row->known & ROW_HAS_WAITS,
		       row->waits.uninterruptible_ns + row->waits.stopped_ns);
}

static bool has_requests(const struct resource_row *row)
{
	return row->blockio.requests;
}

static bool is_of_processes(const struct resource_row *row)
{
	return !row->no_process;
}

static void cell_active(struct text_table *table, const struct resource_row *row)
{
	text_rows_time(table, true, row_order_active_ns(row));
}

static void cell_on_cpu(struct text_table *table, const struct resource_row *row)
{
	text_rows_time(table, true, row->cpu.total_ns - row->gpu.spin_ns);
}

static const struct row_column time_columns[] = {
	{{.title = "active"}, .cell = cell_active},
	{{.title = "on-CPU"}, .cell = cell_on_cpu},
	{{.title = "user", .expendable = 9}, .figure = "cpu.user"},
	{{.title = "sys", .expendable = 8}, .figure = "cpu.system"},
	{{.title = "%CPU"}, .figure = "cpu.share"},
	{{.title = "run queue"}, .figure = "waiting.runqueue"},
	{{.title = "sleep", .expendable = 6}, .figure = "offcpu.sleep"},
	{{.title = "disk wait", .expendable = 4}, .figure = "offcpu.disk"},
	{{.title = "D/stopped", .expendable = 7},
	 .cell = cell_other_waits,
	 .shown_with = ROW_HAS_WAITS},
	{{.title = "GPU wait"}, .hide_zero = true, .figure = "gpu.state"},
	{{.title = "cswch"}, .figure = "cpu.voluntary"},
	{{.title = "nvcswch", .expendable = 5}, .figure = "cpu.involuntary"},
};
static const struct row_table time_table = {time_columns, ARRAY_SIZE(time_columns), NULL};

static const struct row_column io_columns[] = {
	{{.title = "reads"}, .figure = "blockio.reads"},
	{{.title = "writes"}, .figure = "blockio.writes"},
	{{.title = "read"}, .figure = "blockio.read"},
	{{.title = "written"}, .figure = "blockio.written"},
	{{.title = "p50", .expendable = 2}, .figure = "blockio.p50"},
	{{.title = "p95", .expendable = 3}, .figure = "blockio.p95"},
	{{.title = "p99"}, .figure = "blockio.p99"},
	{{.title = "max"}, .figure = "blockio.max"},
	{{.title = "queue p99", .expendable = 4}, .figure = "blockio.queue_p99"},
};
static const struct row_table io_table = {io_columns, ARRAY_SIZE(io_columns), has_requests};

static const struct row_column memory_columns[] = {
	{{.title = "container or unit", .left = true, .max_columns = 30, .flexible = true},
	 .cell = text_rows_container,
	 .groupings = 1U << ROWS_BY_PROCESS | 1U << ROWS_BY_THREAD},
	{{.title = "processes"}, .cell = cell_processes, .groupings = OF_PROCESSES},
	{{.title = "threads"}, .cell = cell_threads},
	{{.title = "in interval", .left = true, .expendable = 6}, .cell = cell_life},
	{{.title = "minflt"}, .figure = "memory.minor_faults"},
	{{.title = "majflt"}, .figure = "memory.major_faults"},
	/* They stay when no process was there at the end. */
	{{.title = "RSS"},
	 .figure = "memory.rss",
	 .shown_with = ROW_HAS_USAGE,
	 .groupings = ALL_BUT_THREADS},
	{{.title = "peak RSS", .expendable = 9},
	 .figure = "memory.rss_peak",
	 .groupings = ALL_BUT_THREADS},
	{{.title = "growth"},
	 .figure = "memory.rss_growth",
	 .shown_with = ROW_HAS_USAGE,
	 .groupings = ALL_BUT_THREADS},
	{{.title = "disk read", .expendable = 8},
	 .figure = "storage.read",
	 .hidden_with = ROW_HAS_BLOCKIO},
	{{.title = "dirtied", .expendable = 7},
	 .figure = "storage.written",
	 .hidden_with = ROW_HAS_BLOCKIO},
};
static const struct row_table memory_table = {memory_columns, ARRAY_SIZE(memory_columns),
					      is_of_processes};

static void write_summary(const struct text_report *report, const struct resource_rows *rows)
{
	char a[HUMAN_SIZE], b[HUMAN_SIZE], text[512] = "";
	const struct resource_machine *machine = &rows->machine;
	size_t used = 0;

	if (machine->known) {
		if (rows->busy_percent >= 0)
			used = (size_t)snprintf(text, sizeof(text), "CPUs %.1f%% busy (",
						rows->busy_percent);
		else
			used = (size_t)snprintf(text, sizeof(text), "CPUs busy (");
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s, %s of it in these rows",
			human_time(a, machine->busy_ns), human_time(b, rows->total.cpu.total_ns));
		/* On CPUs that were idle they are part of no row, unless they have one. */
		if (!rows->no_thread_ns && machine->irq_ns > machine->busy_ns / 100)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 ", in interrupts about %s",
						 human_time(a, machine->irq_ns));
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "); memory: %s of %s available. ",
					 human_bytes(a, machine->memory_available_bytes),
					 human_bytes(b, machine->memory_bytes));
	}
	if (rows->no_thread_ns)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 ROW_INTERRUPTS ": interrupt time on idle CPUs. ");
	if (rows->quiet_processes)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s not shown. ",
					 human_counted(a, rows->quiet_processes,
						       rows->by == ROWS_BY_THREAD
							       ? "idle threads"
							       : "idle processes"));
	if (rows->missing_threads)
		snprintf(text + used, sizeof(text) - used,
			 "%s not accounted: final counts missing.",
			 human_counted(a, rows->missing_threads, "exited threads"));
	if (text[0])
		text_wrap(report->out, report->width, "", 1, text);
}

int text_resources(const struct text_report *report, const struct resource_rows *rows)
{
	int err;

	if (!rows->count)
		return 0;
	text_heading(report, "Time by %s, sorted by %s", rows_grouping_name(rows->by),
		     row_order_text(report->options->order));
	err = text_rows(report, rows, &time_table);
	if (err)
		return err;
	write_summary(report, rows);
	if (!rows_are_of_regions(rows->by) && rows->total.known & ROW_HAS_BLOCKIO &&
	    rows->total.blockio.requests) {
		text_heading(report, "Block I/O by %s (p50 to max: service time)",
			     rows_grouping_name(rows->by));
		err = text_rows(report, rows, &io_table);
		if (err)
			return err;
	}
	if (rows_are_of_regions(rows->by))
		return 0;
	text_heading(report, "Page faults and memory by %s", rows_grouping_name(rows->by));
	err = text_rows(report, rows, &memory_table);
	if (!err)
		text_wrap(report->out, report->width, "", 1,
			  report->options->details
				  ? "(\".\" zero, \"-\" not measured; peak RSS: since the "
				    "process started; percentiles are within 3.1%)"
				  : "(\".\" zero, \"-\" not measured)");
	return err;
}

void text_findings(const struct text_report *report, const struct findings *findings)
{
	char text[2 * FINDING_TEXT_SIZE];

	if (!findings->count)
		return;
	text_heading(report, "Findings");
	for (size_t i = 0; i < findings->count; i++) {
		escape_terminal(text, sizeof(text), findings->findings[i].text);
		text_wrap(report->out, report->width, " *", 3, text);
	}
}
