// SPDX-License-Identifier: BSD-2-Clause
/* What each column shows. */
#include "top/top_columns.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "base/array.h"
#include "base/clock.h"
#include "rows/figure_table.h"

/* Of a number without its sign. */
#define NUMBER_SIZE  (TOP_CELL_SIZE - 1)
#define BY(grouping) (1U << ROWS_BY_##grouping)
#define NETWORK	     (1U << PKBPF_PROFILE_NETWORK)
#define ALLOC	     (1U << PKBPF_PROFILE_ALLOC)
#define LIVE	     (1U << PKBPF_PROFILE_LIVE)
#define MEMORY	     (1U << PKBPF_PROFILE_MEMORY)

static bool pid(const struct resource_rows *rows, const struct resource_row *row, double *ret_value)
{
	*ret_value = rows->by == ROWS_BY_THREAD ? row->tid : row->pid;
	return *ret_value > 0;
}

/* Of the wall time of all its threads. */
static bool wall_share(const struct resource_row *row, uint64_t time_ns, double *ret_value)
{
	*ret_value = 100 * row_ratio((double)time_ns, (double)row->waits.wall_ns);
	return row->known & ROW_HAS_WAITS && row->waits.wall_ns;
}

static bool runqueue_share(const struct resource_rows *rows, const struct resource_row *row,
			   double *ret_value)
{
	if (wall_share(row, row->waits.runqueue_ns, ret_value))
		return true;
	*ret_value = 100 * row_ratio((double)row->waits.runqueue_ns, (double)rows->interval_ns);
	return row->known & ROW_HAS_USAGE && rows->interval_ns;
}

static bool disk_share(const struct resource_rows *rows, const struct resource_row *row,
		       double *ret_value)
{
	(void)rows;
	return wall_share(row, row->waits.disk_ns + row->waits.uninterruptible_ns, ret_value);
}

static bool sleep_share(const struct resource_rows *rows, const struct resource_row *row,
			double *ret_value)
{
	/* Where waits for a GPU are a state of their own, what sleeps there is asleep here. */
	uint64_t gpu_ns = row->gpu.state_ns ? row->gpu.wait_ns : 0;

	(void)rows;
	return wall_share(row, row->waits.sleep_ns + gpu_ns, ret_value);
}

static bool faults(const struct resource_rows *rows, const struct resource_row *row,
		   double *ret_value)
{
	(void)rows;
	*ret_value = (double)row->memory.minor_faults + (double)row->memory.major_faults;
	return row->known & ROW_HAS_USAGE;
}

static bool switches(const struct resource_rows *rows, const struct resource_row *row,
		     double *ret_value)
{
	(void)rows;
	*ret_value = (double)row->cpu.voluntary + (double)row->cpu.involuntary;
	return row->known & ROW_HAS_USAGE;
}

static bool threads(const struct resource_rows *rows, const struct resource_row *row,
		    double *ret_value)
{
	(void)rows;
	*ret_value = row->threads ? (double)row->threads : (double)row->threads_seen;
	return *ret_value > 0;
}

/* Block requests where they are recorded, else what the kernel's account says was read. */
static bool bytes_of(const struct resource_rows *rows, const struct resource_row *row,
		     const char *const figures[2], double *ret_value)
{
	return figure_value(figure_find(figures[0]), rows, row, ret_value) ||
	       figure_value(figure_find(figures[1]), rows, row, ret_value);
}

static bool bytes_read(const struct resource_rows *rows, const struct resource_row *row,
		       double *ret_value)
{
	static const char *const figures[2] = {"blockio.read", "storage.read"};

	return bytes_of(rows, row, figures, ret_value);
}

static bool bytes_written(const struct resource_rows *rows, const struct resource_row *row,
			  double *ret_value)
{
	static const char *const figures[2] = {"blockio.written", "storage.written"};

	return bytes_of(rows, row, figures, ret_value);
}

static const char *comm(const struct resource_row *row)
{
	return row->name;
}

static const char *container(const struct resource_row *row)
{
	return row->container;
}

/* Those of kinds that were asked for by name go last. */
static const struct top_column columns[] = {
	{"PID", "process, or thread", TOP_UNIT_NUMBER, 7, .value = pid,
	 .groupings = BY(PROCESS) | BY(THREAD)},
	{"COMM", "name of the process", TOP_UNIT_TEXT, 15, .left = true, .text = comm,
	 .groupings = BY(PROCESS) | BY(THREAD) | BY(COMM) | BY(NAME)},
	{"REGION", "region", TOP_UNIT_TEXT, 32, .left = true, .text = comm,
	 .groupings = BY(REGION)},
	{"CONTAINER", "container or unit", TOP_UNIT_TEXT, 20, .left = true, .expendable = 12,
	 .text = container, .groupings = BY(PROCESS) | BY(THREAD)},
	{"CONTAINER", "container or unit", TOP_UNIT_TEXT, 32, .left = true, .text = container,
	 .groupings = BY(CONTAINER)},
	{"CPU%", "share of one CPU", TOP_UNIT_PERCENT, 6, .figure = "cpu.share"},
	{"RUNQ%", "share of the threads' time that they were ready to run and waited for a CPU",
	 TOP_UNIT_PERCENT, 6, .value = runqueue_share},
	{"DISK%", "share of the threads' time in disk wait and D state", TOP_UNIT_PERCENT, 6,
	 .value = disk_share},
	{"SLEEP%", "share of the threads' time asleep, GPU waits as well", TOP_UNIT_PERCENT, 6,
	 .value = sleep_share, .expendable = 10},
	{"READ/s", "bytes read from block devices", TOP_UNIT_BYTES, 7, .value = bytes_read,
	 .is_rate = true, .expendable = 5},
	{"WRIT/s", "bytes written to block devices", TOP_UNIT_BYTES, 7, .value = bytes_written,
	 .is_rate = true, .expendable = 4},
	{"p99", "99th percentile of the latency of block requests", TOP_UNIT_NS, 7,
	 .figure = "blockio.p99", .expendable = 9},
	{"FLT/s", "page faults", TOP_UNIT_COUNT, 6, .value = faults, .is_rate = true,
	 .expendable = 8},
	{"CSW/s", "context switches", TOP_UNIT_COUNT, 6, .value = switches, .is_rate = true,
	 .expendable = 11},
	{"RSS", "resident memory", TOP_UNIT_BYTES, 6, .figure = "memory.rss", .expendable = 3},
	{"PRIV", "resident memory, neither of files nor shared", TOP_UNIT_BYTES, 6,
	 .figure = "memory.private", .expendable = 6, .kinds = MEMORY},
	{"SWAP", "memory in swap", TOP_UNIT_BYTES, 6, .figure = "memory.swap", .expendable = 17,
	 .kinds = MEMORY},
	{"ALLOC/s", "bytes allocated by sampled allocators", TOP_UNIT_BYTES, 7,
	 .figure = "memory.heap_allocated", .is_rate = true, .expendable = 2, .kinds = ALLOC},
	{"LIVE", "allocated and not freed", TOP_UNIT_BYTES, 6, .figure = "memory.heap_live",
	 .expendable = 1, .kinds = LIVE},
	{"GPU%", "share of one GPU", TOP_UNIT_PERCENT, 6, .figure = "gpu.share", .expendable = 3,
	 .known = ROW_HAS_GPU_TIME},
	{"GPUMEM", "memory in use on GPUs", TOP_UNIT_BYTES, 6, .figure = "gpu.memory",
	 .expendable = 4, .known = ROW_HAS_GPU_MEMORY},
	{"THR", "threads", TOP_UNIT_COUNT, 5, .value = threads, .expendable = 7},
	{"RECV/s", "bytes received from the network", TOP_UNIT_BYTES, 7,
	 .figure = "network.received", .is_rate = true, .expendable = 1, .kinds = NETWORK},
	{"SENT/s", "bytes sent to the network", TOP_UNIT_BYTES, 7, .figure = "network.sent",
	 .is_rate = true, .expendable = 2, .kinds = NETWORK},
	{"RESP99", "99th percentile of the time to the answer of a network server", TOP_UNIT_NS, 7,
	 .figure = "network.response_p99", .expendable = 6, .kinds = NETWORK},
};

_Static_assert(ARRAY_SIZE(columns) <= TOP_COLUMNS_MAX, "a figure each");

const struct top_column *top_column_at(size_t index)
{
	return index < ARRAY_SIZE(columns) ? &columns[index] : NULL;
}

int top_column_find(const char *title, enum rows_by by)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (strcasecmp(columns[i].title, title) == 0 && top_column_has(&columns[i], by))
			return (int)i;
	return -1;
}

bool top_column_has(const struct top_column *column, enum rows_by by)
{
	return !column->groupings || column->groupings & 1U << by;
}

bool top_column_is_fed(const struct top_column *column, uint32_t kinds, unsigned int known)
{
	return (!column->kinds || column->kinds & kinds) &&
	       (!column->known || column->known & known);
}

bool top_column_value(const struct top_column *column, const struct resource_rows *rows,
		      const struct resource_row *row, double *ret_value)
{
	bool known = column->figure
			     ? figure_value(figure_find(column->figure), rows, row, ret_value)
		     : column->value ? column->value(rows, row, ret_value)
				     : false;

	if (known && column->is_rate && rows->interval_ns)
		*ret_value *= (double)NS_PER_SECOND / (double)rows->interval_ns;
	return known;
}

/* Three digits and a unit. */
static void shorten(char *text, double value, double step, const char *const *units, size_t count)
{
	size_t unit = 0;

	while (fabs(value) >= 999.5 && unit + 1 < count) {
		value /= step;
		unit++;
	}
	if (unit == 0 || fabs(value) >= 9.95)
		snprintf(text, NUMBER_SIZE, "%.0f%s", value, units[unit]);
	else
		snprintf(text, NUMBER_SIZE, "%.1f%s", value, units[unit]);
}

void top_column_format(enum top_unit unit, double value, bool is_difference,
		       char ret_text[TOP_CELL_SIZE])
{
	static const char *const counts[] = {"", "k", "M", "G", "T"};
	static const char *const bytes[] = {"", "K", "M", "G", "T", "P"};
	static const char *const times[] = {"ns", "us", "ms", "s"};
	char text[NUMBER_SIZE] = "";

	switch (unit) {
	case TOP_UNIT_NUMBER:
		snprintf(text, sizeof(text), "%.0f", value);
		break;
	case TOP_UNIT_PERCENT:
		snprintf(text, sizeof(text), fabs(value) < 99.95 ? "%.1f" : "%.0f", value);
		break;
	case TOP_UNIT_COUNT:
		shorten(text, value, 1000, counts, ARRAY_SIZE(counts));
		break;
	case TOP_UNIT_BYTES:
		shorten(text, value, 1024, bytes, ARRAY_SIZE(bytes));
		break;
	case TOP_UNIT_NS:
		shorten(text, value, 1000, times, ARRAY_SIZE(times));
		break;
	case TOP_UNIT_TEXT:
		break;
	}
	snprintf(ret_text, TOP_CELL_SIZE, "%s%s",
		 is_difference && unit != TOP_UNIT_NUMBER && value > 0 ? "+" : "", text);
}
