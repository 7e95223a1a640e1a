// SPDX-License-Identifier: BSD-2-Clause
/* Prints the joined account in a few tables, and what it comes to. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "rows/human.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "finding/finding.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

#define COLUMNS_MAX 16

/* How a column's cell is made from a row. */
typedef void (*cell_function)(struct text_table *table, const struct resource_rows *rows,
			      const struct resource_row *row);

struct column {
	struct text_column text;
	unsigned int needs;	/* of the sum of all rows; the column is left out without */
	unsigned int groupings; /* 1 << enum rows_by it is for; 0: all */
	cell_function cell;
	unsigned int
		instead; /* enum row_known that tells the same better: then left out; 0: none */
};

/* "1,234", "12.3k", "4.56M": three digits of what is large. */
static const char *short_count(char buffer[HUMAN_SIZE], uint64_t count)
{
	static const char units[] = "kMGTP";
	double value = (double)count;
	size_t unit = 0;

	if (count < 10000)
		return human_count(buffer, count);
	value /= 1000;
	while (value >= 999.5 && unit + 2 < sizeof(units)) {
		value /= 1000;
		unit++;
	}
	snprintf(buffer, HUMAN_SIZE, "%.*f%c",
		 value < 9.995	 ? 2
		 : value < 99.95 ? 1
				 : 0,
		 value, units[unit]);
	return buffer;
}

static void cell_count(struct text_table *table, const struct resource_row *row, unsigned int needs,
		       uint64_t count)
{
	char buffer[HUMAN_SIZE];

	text_table_cell(table, (row->known & needs) == needs ? short_count(buffer, count) : "-");
}

static void cell_time(struct text_table *table, const struct resource_row *row, unsigned int needs,
		      uint64_t time_ns)
{
	char buffer[HUMAN_SIZE];

	/* Zeros are many: a point leaves the eye to the rest. */
	text_table_cell(table, (row->known & needs) != needs ? "-"
			       : time_ns		     ? human_time(buffer, time_ns)
							     : ".");
}

static void cell_bytes(struct text_table *table, const struct resource_row *row, unsigned int needs,
		       uint64_t bytes)
{
	char buffer[HUMAN_SIZE];

	text_table_cell(table, (row->known & needs) != needs ? "-"
			       : bytes			     ? human_bytes(buffer, bytes)
							     : ".");
}

#define CELL(name)                                                                                 \
	static void name(struct text_table *table, const struct resource_rows *rows,               \
			 const struct resource_row *row)

CELL(pid)
{
	if (row->pid)
		text_table_cellf(table, "%" PRIu32, row->pid);
	else
		text_table_cell(table, "-");
}

CELL(tid)
{
	if (row->tid)
		text_table_cellf(table, "%" PRIu32, row->tid);
	else
		text_table_cell(table, "-");
}

CELL(comm)
{
	text_table_cell(table, row->name[0] ? row->name : "[unknown]");
}

CELL(container)
{
	text_table_cell(table, row->container[0] ? row->container : "-");
}

CELL(processes)
{
	char buffer[HUMAN_SIZE];

	text_table_cell(table, short_count(buffer, row->processes));
}

CELL(threads)
{
	char buffer[HUMAN_SIZE];

	text_table_cell(table,
			short_count(buffer, row->threads ? row->threads : row->threads_seen));
}

CELL(life)
{
	text_table_cell(table, row->started_inside ? row->ended_inside ? "short-lived" : "started"
			       : row->ended_inside ? "exited"
						   : "");
}

CELL(cpu)
{
	cell_time(table, row, 0, row->cpu.total_ns);
}

CELL(user)
{
	cell_time(table, row, ROW_HAS_USAGE, row->cpu.user_ns);
}

CELL(system_time)
{
	cell_time(table, row, ROW_HAS_USAGE, row->cpu.system_ns);
}

CELL(one_cpu)
{
	if (row->known & ROW_HAS_INTERVAL)
		text_table_cellf(table, "%.1f%%", row->cpu.share);
	else
		text_table_cell(table, "-");
}

CELL(runqueue)
{
	cell_time(table, row, 0, row->waits.runqueue_ns);
}

CELL(sleep_time)
{
	cell_time(table, row, ROW_HAS_WAITS, row->waits.sleep_ns);
}

CELL(disk)
{
	cell_time(table, row, ROW_HAS_WAITS, row->waits.disk_ns);
}

/* Uninterruptible without I/O (a lock in the kernel, a vfork child), and stopped. */
CELL(other_waits)
{
	cell_time(table, row, ROW_HAS_WAITS, row->waits.uninterruptible_ns + row->waits.stopped_ns);
}

CELL(voluntary)
{
	cell_count(table, row, ROW_HAS_USAGE, row->cpu.voluntary);
}

CELL(involuntary)
{
	cell_count(table, row, ROW_HAS_USAGE, row->cpu.involuntary);
}

CELL(reads)
{
	cell_count(table, row, ROW_HAS_BLOCKIO, row->blockio.reads);
}

CELL(writes)
{
	cell_count(table, row, ROW_HAS_BLOCKIO, row->blockio.writes);
}

CELL(read_bytes)
{
	cell_bytes(table, row, ROW_HAS_BLOCKIO, row->blockio.read_bytes);
}

CELL(written_bytes)
{
	cell_bytes(table, row, ROW_HAS_BLOCKIO, row->blockio.written_bytes);
}

CELL(device_p50)
{
	cell_time(table, row, ROW_HAS_BLOCKIO, row->blockio.device.p50_ns);
}

CELL(device_p95)
{
	cell_time(table, row, ROW_HAS_BLOCKIO, row->blockio.device.p95_ns);
}

CELL(device_p99)
{
	cell_time(table, row, ROW_HAS_BLOCKIO, row->blockio.device.p99_ns);
}

CELL(device_max)
{
	cell_time(table, row, ROW_HAS_BLOCKIO, row->blockio.device.max_ns);
}

CELL(queue_p99)
{
	cell_time(table, row, ROW_HAS_BLOCKIO, row->blockio.queue.p99_ns);
}

CELL(storage_read)
{
	cell_bytes(table, row, ROW_HAS_USAGE, row->storage.read_bytes);
}

CELL(storage_written)
{
	cell_bytes(table, row, ROW_HAS_USAGE, row->storage.written_bytes);
}

CELL(minor)
{
	cell_count(table, row, ROW_HAS_USAGE, row->memory.minor_faults);
}

CELL(major)
{
	cell_count(table, row, ROW_HAS_USAGE, row->memory.major_faults);
}

CELL(rss)
{
	cell_bytes(table, row, ROW_HAS_RSS, row->memory.rss_bytes);
}

CELL(peak)
{
	cell_bytes(table, row, ROW_HAS_PEAK, row->memory.peak_rss_bytes);
}

CELL(growth)
{
	uint64_t size = (uint64_t)(row->memory.rss_growth_bytes < 0 ? -row->memory.rss_growth_bytes
								    : row->memory.rss_growth_bytes);
	char buffer[HUMAN_SIZE];

	if (!(row->known & ROW_HAS_RSS))
		text_table_cell(table, "-");
	else if (!size)
		text_table_cell(table, ".");
	else
		text_table_cellf(table, "%c%s", row->memory.rss_growth_bytes < 0 ? '-' : '+',
				 human_bytes(buffer, size));
}

#define FOR_PROCESS   (1U << ROWS_BY_PROCESS)
#define FOR_THREAD    (1U << ROWS_BY_THREAD)
#define FOR_CONTAINER (1U << ROWS_BY_CONTAINER)
#define FOR_COMM      (1U << ROWS_BY_COMM)

#define WHO                                                                                        \
	{{.title = "pid"}, 0, FOR_PROCESS | FOR_THREAD, pid, 0},                                   \
		{{.title = "tid"}, 0, FOR_THREAD, tid, 0},                                         \
		{{.title = "comm",                                                                 \
		  .left = true,                                                                    \
		  .max_columns = PKBPF_COMM_SIZE,                                                  \
		  .flexible = true},                                                               \
		 0,                                                                                \
		 FOR_PROCESS | FOR_THREAD | FOR_COMM,                                              \
		 comm,                                                                             \
		 0},                                                                               \
	{                                                                                          \
		{.title = "container or unit", .left = true, .max_columns = 30, .flexible = true}, \
			0, FOR_CONTAINER, container, 0                                             \
	}

static const struct column time_columns[] = {
	WHO,
	{{.title = "on-CPU"}, 0, 0, cpu, 0},
	{{.title = "user"}, ROW_HAS_USAGE, 0, user, 0},
	{{.title = "sys"}, ROW_HAS_USAGE, 0, system_time, 0},
	{{.title = "%CPU"}, ROW_HAS_INTERVAL, 0, one_cpu, 0},
	{{.title = "run queue"}, 0, 0, runqueue, 0},
	{{.title = "sleep"}, ROW_HAS_WAITS, 0, sleep_time, 0},
	{{.title = "disk wait"}, ROW_HAS_WAITS, 0, disk, 0},
	{{.title = "D/stopped"}, ROW_HAS_WAITS, 0, other_waits, 0},
	{{.title = "cswch"}, ROW_HAS_USAGE, 0, voluntary, 0},
	{{.title = "nvcswch"}, ROW_HAS_USAGE, 0, involuntary, 0},
};

static const struct column io_columns[] = {
	WHO,
	{{.title = "reads"}, ROW_HAS_BLOCKIO, 0, reads, 0},
	{{.title = "writes"}, ROW_HAS_BLOCKIO, 0, writes, 0},
	{{.title = "read"}, ROW_HAS_BLOCKIO, 0, read_bytes, 0},
	{{.title = "written"}, ROW_HAS_BLOCKIO, 0, written_bytes, 0},
	{{.title = "p50"}, ROW_HAS_BLOCKIO, 0, device_p50, 0},
	{{.title = "p95"}, ROW_HAS_BLOCKIO, 0, device_p95, 0},
	{{.title = "p99"}, ROW_HAS_BLOCKIO, 0, device_p99, 0},
	{{.title = "max"}, ROW_HAS_BLOCKIO, 0, device_max, 0},
	{{.title = "queue p99"}, ROW_HAS_BLOCKIO, 0, queue_p99, 0},
};

static const struct column memory_columns[] = {
	WHO,
	{{.title = "container or unit", .left = true, .max_columns = 30, .flexible = true},
	 0,
	 FOR_PROCESS | FOR_THREAD,
	 container,
	 0},
	{{.title = "processes"}, 0, FOR_CONTAINER | FOR_COMM, processes, 0},
	{{.title = "threads"}, 0, 0, threads, 0},
	{{.title = "in interval", .left = true}, 0, 0, life, 0},
	{{.title = "minflt"}, ROW_HAS_USAGE, 0, minor, 0},
	{{.title = "majflt"}, ROW_HAS_USAGE, 0, major, 0},
	{{.title = "RSS"}, ROW_HAS_USAGE, FOR_PROCESS | FOR_CONTAINER | FOR_COMM, rss, 0},
	{{.title = "peak RSS"}, ROW_HAS_PEAK, FOR_PROCESS | FOR_CONTAINER | FOR_COMM, peak, 0},
	{{.title = "growth"}, ROW_HAS_USAGE, FOR_PROCESS | FOR_CONTAINER | FOR_COMM, growth, 0},
	{{.title = "disk read"}, ROW_HAS_USAGE, 0, storage_read, ROW_HAS_BLOCKIO},
	{{.title = "dirtied"}, ROW_HAS_USAGE, 0, storage_written, ROW_HAS_BLOCKIO},
};

static size_t choose_columns(const struct resource_rows *rows, const struct column *columns,
			     size_t count, const struct column **ret_columns,
			     struct text_column *ret_texts)
{
	size_t chosen = 0;

	for (size_t i = 0; i < count; i++) {
		if ((rows->total.known & columns[i].needs) != columns[i].needs ||
		    (rows->total.known & columns[i].instead) ||
		    (columns[i].groupings && !(columns[i].groupings & 1U << rows->by)))
			continue;
		ret_columns[chosen] = &columns[i];
		ret_texts[chosen++] = columns[i].text;
	}
	return chosen;
}

static int write_table(const struct text_report *report, const struct resource_rows *rows,
		       const struct column *columns, size_t count,
		       bool (*shows)(const struct resource_row *row))
{
	const struct column *chosen[COLUMNS_MAX];
	struct text_column texts[COLUMNS_MAX];
	size_t column_count = choose_columns(rows, columns, count, chosen, texts), shown = 0,
	       fit = 0;
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(texts, column_count);
	int err;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++) {
		if (shows && !shows(&rows->items[i]))
			continue;
		fit++;
		if (shown == report->options->top)
			continue;
		shown++;
		for (size_t j = 0; j < column_count; j++)
			chosen[j]->cell(table, rows, &rows->items[i]);
	}
	err = text_table_write(table, report->out);
	if (!err)
		text_more(report, fit - shown,
			  rows->by == ROWS_BY_PROCESS  ? "processes"
			  : rows->by == ROWS_BY_THREAD ? "threads"
						       : "rows");
	return err;
}

static bool has_requests(const struct resource_row *row)
{
	return row->blockio.requests;
}

static bool is_of_processes(const struct resource_row *row)
{
	return !row->no_process;
}

static void write_summary(const struct text_report *report, const struct resource_rows *rows)
{
	char a[HUMAN_SIZE], b[HUMAN_SIZE], text[512];
	const struct resource_machine *machine = &rows->machine;
	size_t used = 0;

	if (machine->known) {
		used = (size_t)snprintf(text, sizeof(text),
					"CPUs %.1f%% busy (%s, %s of it in these rows",
					rows->busy_percent, human_time(a, machine->busy_ns),
					human_time(b, rows->total.cpu.total_ns));
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
	text_wrap(report->out, "", 1, text);
}

int text_resources(const struct text_report *report, const struct resource_rows *rows)
{
	int err;

	if (!rows->count)
		return 0;
	text_heading(report, "Time by %s, sorted by use of the busiest resource",
		     rows_grouping_name(rows->by));
	err = write_table(report, rows, time_columns, ARRAY_SIZE(time_columns), NULL);
	if (err)
		return err;
	write_summary(report, rows);
	if (rows->total.known & ROW_HAS_BLOCKIO && rows->total.blockio.requests) {
		text_heading(report, "Block I/O by %s (p50 to max: service time)",
			     rows_grouping_name(rows->by));
		err = write_table(report, rows, io_columns, ARRAY_SIZE(io_columns), has_requests);
		if (err)
			return err;
	}
	text_heading(report, "Page faults and memory by %s", rows_grouping_name(rows->by));
	err = write_table(report, rows, memory_columns, ARRAY_SIZE(memory_columns),
			  is_of_processes);
	if (!err)
		text_wrap(report->out, "", 1,
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
		text_wrap(report->out, " *", 3, text);
	}
}
