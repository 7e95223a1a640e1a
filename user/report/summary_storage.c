// SPDX-License-Identifier: BSD-2-Clause
/* Writes what block devices did, and from where they were asked. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text_append.h"
#include "report/summary.h"
#include "report/text_table.h"
#include "rows/devices.h"
#include "rows/human.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

#define DEVICE_LINES 4

static void label_requests(char *text, size_t size, const struct path_weight *weight,
			   uint64_t whole)
{
	char share[HUMAN_SIZE], count[HUMAN_SIZE];

	snprintf(text, size, " %6s %8s  ", human_share(share, weight->weight, whole),
		 human_count(count, weight->count));
}

static const struct summary_stacks stacks = {.kind = PKBPF_PROFILE_BLOCKIO,
					     .label = label_requests};

static void add_percentile(struct text_table *table, const struct device_times *times,
			   unsigned int permille)
{
	char buffer[HUMAN_SIZE];

	if (times->histogram.count)
		text_table_cell(table, human_time(buffer, histogram_percentile(&times->histogram,
									       permille)));
	else
		text_table_cell(table, "-");
}

static void add_device(struct text_table *table, const struct summary *summary,
		       const struct device *device, unsigned int operation)
{
	const struct device_operation *values = &device->operations[operation];
	double seconds = (double)summary->rows->interval_ns / NS_PER_SECOND;
	char buffer[HUMAN_SIZE], name[32];

	text_table_cell(table, device_name(summary->report.profile, device->number, name));
	text_table_cell(table, device_operation_name(operation));
	text_table_cell(table, human_count(buffer, values->device.count));
	if (seconds > 0)
		text_table_cellf(table, "%.0f", (double)values->device.count / seconds);
	else
		text_table_cell(table, "-");
	text_table_cell(table, values->bytes ? human_bytes(buffer, values->bytes) : ".");
	add_percentile(table, &values->device, 500);
	add_percentile(table, &values->device, 950);
	add_percentile(table, &values->device, 990);
	text_table_cell(table, human_time(buffer, values->device.max_ns));
	add_percentile(table, &values->queue, 990);
}

/* As many as fit; returns the number of their lines. */
static int write_devices(const struct summary *summary, const struct device_table *devices,
			 size_t *lines)
{
	static const struct text_column columns[] = {
		{.title = "device", .left = true, .max_columns = 16, .flexible = true},
		{.title = "op", .left = true},
		{.title = "requests"},
		{.title = "IOPS"},
		{.title = "bytes"},
		{.title = "p50"},
		{.title = "p95", .expendable = 1},
		{.title = "p99"},
		{.title = "max"},
		{.title = "queue p99"},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));
	size_t shown = 0;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < devices->count; i++)
		for (unsigned int op = 0; op < PKBPF_BLOCKIO_OPERATIONS; op++) {
			if (!devices->items[i]->operations[op].device.count || shown == *lines)
				continue;
			shown++;
			add_device(table, summary, devices->items[i], op);
		}
	*lines = shown;
	return text_table_write(table, summary->report.width, summary->report.out);
}

int summary_storage(const struct summary *summary, size_t lines)
{
	_cleanup_(path_tree_done) struct path_tree tree = {0};
	_cleanup_(device_table_done) struct device_table devices = {0};
	size_t rows;
	char title[80];
	int err = device_table_init(&devices, summary->report.profile);

	if (err || !devices.count || lines < 3)
		return err;
	err = summary_join_stacks(summary, &stacks, &tree);
	if (err)
		return err;
	text_heading(&summary->report, "Block I/O (p50 to max: service time)");
	snprintf(title, sizeof(title), " %6s %8s  %s", "share", "requests",
		 "where, by service time (caller > callee)");
	rows = lines - 2 < DEVICE_LINES ? lines - 2 : DEVICE_LINES;
	err = write_devices(summary, &devices, &rows);
	if (!err)
		summary_write_stacks(summary, &stacks, &tree, title, lines - 2 - rows);
	return err;
}
