// SPDX-License-Identifier: BSD-2-Clause
/* Sorts rows by the column that was asked for. */
#include "report/row_order.h"

#include <stdlib.h>
#include <string.h>

#include "rows/figure_table.h"

const char *const row_order_names[ROW_ORDER_COUNT + 1] = {
	[ROW_ORDER_ACTIVE] = "active",
	[ROW_ORDER_CPU] = "%CPU",
	[ROW_ORDER_USER] = "user",
	[ROW_ORDER_SYS] = "sys",
	[ROW_ORDER_RUNQUEUE] = "run-queue",
	[ROW_ORDER_DISK] = "disk-wait",
	[ROW_ORDER_SLEEP] = "sleep",
	[ROW_ORDER_CSWCH] = "cswch",
	[ROW_ORDER_NVCSWCH] = "nvcswch",
	[ROW_ORDER_READ] = "read",
	[ROW_ORDER_WRITTEN] = "written",
	[ROW_ORDER_P99] = "p99",
	[ROW_ORDER_RSS] = "RSS",
	[ROW_ORDER_GROWTH] = "growth",
	[ROW_ORDER_MINFLT] = "minflt",
	[ROW_ORDER_MAJFLT] = "majflt",
	[ROW_ORDER_PID] = "pid",
	[ROW_ORDER_COMM] = "comm",
};

/* The first that is known counts; the second is what the kernel's account says of the same. */
static const char *const figures[ROW_ORDER_COUNT][2] = {
	[ROW_ORDER_CPU] = {"cpu.share"},
	[ROW_ORDER_USER] = {"cpu.user"},
	[ROW_ORDER_SYS] = {"cpu.system"},
	[ROW_ORDER_RUNQUEUE] = {"waiting.runqueue"},
	[ROW_ORDER_DISK] = {"offcpu.disk"},
	[ROW_ORDER_SLEEP] = {"offcpu.sleep"},
	[ROW_ORDER_CSWCH] = {"cpu.voluntary"},
	[ROW_ORDER_NVCSWCH] = {"cpu.involuntary"},
	[ROW_ORDER_READ] = {"blockio.read", "storage.read"},
	[ROW_ORDER_WRITTEN] = {"blockio.written", "storage.written"},
	[ROW_ORDER_P99] = {"blockio.p99"},
	[ROW_ORDER_RSS] = {"memory.rss"},
	[ROW_ORDER_GROWTH] = {"memory.rss_growth"},
	[ROW_ORDER_MINFLT] = {"memory.minor_faults"},
	[ROW_ORDER_MAJFLT] = {"memory.major_faults"},
};

struct ordered {
	const struct resource_row *row;
	double value;
};

const char *row_order_text(enum row_order order)
{
	return order == ROW_ORDER_ACTIVE ? "active time: on-CPU, run queue, disk wait, D state"
					 : row_order_names[order];
}

uint64_t row_order_active_ns(const struct resource_row *row)
{
	return row->cpu.total_ns - row->gpu.spin_ns + row->waits.runqueue_ns + row->waits.disk_ns +
	       row->waits.uninterruptible_ns;
}

/* Rows of which it is not known come last. */
static double value_of(const struct resource_rows *rows, const struct resource_row *row,
		       enum row_order order)
{
	double value;

	if (order == ROW_ORDER_ACTIVE)
		return (double)row_order_active_ns(row);
	for (size_t i = 0; i < 2 && figures[order][i]; i++)
		if (figure_value(figure_find(figures[order][i]), rows, row, &value))
			return value;
	return -1e300;
}

static int by_value(const void *left, const void *right, void *context)
{
	const struct ordered *a = left, *b = right;
	enum row_order order = *(const enum row_order *)context;
	int names = order == ROW_ORDER_COMM ? strcmp(a->row->name, b->row->name) : 0;

	if (names)
		return names;
	if (order != ROW_ORDER_PID && order != ROW_ORDER_COMM && a->value != b->value)
		return a->value > b->value ? -1 : 1;
	if (order == ROW_ORDER_PID && a->row->pid != b->row->pid)
		return a->row->pid < b->row->pid ? -1 : 1;
	/* Rows are in a fixed order already. */
	return a->row < b->row ? -1 : a->row > b->row;
}

const struct resource_row **row_order_sort(const struct resource_rows *rows, enum row_order order)
{
	const struct resource_row **sorted = calloc(rows->count + 1, sizeof(*sorted));
	struct ordered *items = calloc(rows->count + 1, sizeof(*items));

	if (!sorted || !items) {
		free(sorted);
		free(items);
		return NULL;
	}
	for (size_t i = 0; i < rows->count; i++)
		items[i] =
			(struct ordered){&rows->items[i], value_of(rows, &rows->items[i], order)};
	qsort_r(items, rows->count, sizeof(*items), by_value, &order);
	for (size_t i = 0; i < rows->count; i++)
		sorted[i] = items[i].row;
	free(items);
	return sorted;
}
