// SPDX-License-Identifier: BSD-2-Clause
/* Prints the slowest block requests one by one, and the stacks that submitted them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "rows/devices.h"
#include "rows/human.h"
#include "report/text_sections.h"
#include "report/text_table.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

/* Functions of the kernel shown of a stack: the way down to the device is much the same for
 * everybody. */
#define KERNEL_FUNCTIONS 2

/* "write sync fua" */
static char *operation_text(char *text, size_t size, const struct slow_io *slow_io)
{
	snprintf(text, size, "%s%s%s%s%s%s",
		 device_operation_name(slow_io->state & PKBPF_BLOCKIO_OPERATION_MASK),
		 slow_io->state & PKBPF_BLOCKIO_SYNC ? " sync" : "",
		 slow_io->state & PKBPF_BLOCKIO_AHEAD ? " ahead" : "", slow_io->fua ? " fua" : "",
		 slow_io->metadata ? " meta" : "", slow_io->failed ? " FAILED" : "");
	return text;
}

static void add_row(struct text_table *table, const struct text_report *report,
		    const struct slow_io *slow_io, size_t rank)
{
	const struct profile_info *info = profile_info_read(report->profile);
	uint64_t at_ns =
		slow_io->insert_ns > info->start_ns ? slow_io->insert_ns - info->start_ns : 0;
	char buffer[HUMAN_SIZE], name[32], operation[64];

	text_table_cellf(table, "%zu", rank);
	text_table_cellf(table, "%.3f", (double)at_ns / NS_PER_SECOND);
	text_who(table, report, slow_io->process, profile_string(report->profile, slow_io->comm));
	text_table_cell(table, device_name(report->profile, slow_io->device, name));
	text_table_cell(table, operation_text(operation, sizeof(operation), slow_io));
	text_table_cell(table, slow_io->bytes ? human_bytes(buffer, slow_io->bytes) : "-");
	text_table_cell(table, human_time(buffer, slow_io->queue_ns));
	text_table_cell(table, human_time(buffer, slow_io->device_ns));
	human_time(buffer, slow_io_total_ns(slow_io));
	text_table_cellf(table, "%s%s", slow_io->open ? "> " : "", buffer);
}

static int write_table(const struct text_report *report, const struct slow_io *const *items,
		       size_t count)
{
	static const struct text_column columns[] = {
		{.title = "#"},
		{.title = "start s", .max_columns = 10},
		{.title = "pid"},
		{.title = "comm", .left = true, .max_columns = PKBPF_COMM_SIZE, .flexible = true},
		{.title = "device", .left = true, .max_columns = 16, .flexible = true},
		{.title = "op", .left = true, .flexible = true},
		{.title = "size", .max_columns = 10},
		/* Hostile recordings may say anything. */
		{.title = "queue time", .max_columns = 12},
		{.title = "service time", .max_columns = 12},
		{.title = "latency", .max_columns = 14},
	};
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		add_row(table, report, items[i], i + 1);
	return text_table_write(table, report->width, report->out);
}

int text_slow_io(const struct text_report *report)
{
	_cleanup_free_ const struct slow_io **items = NULL;
	_cleanup_free_ uint32_t *stacks = NULL;
	bool open = false;
	size_t count;
	int err = slow_io_list_sorted(profile_slow_io(report->profile), &items, &count);

	if (err || !count)
		return err;
	stacks = calloc(count, sizeof(*stacks));
	if (!stacks)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		open |= items[i]->open;
		stacks[i] = items[i]->stack;
	}
	text_heading(report, "Slowest block I/O requests (submitter's stack: leaf <- caller)");
	err = write_table(report, items, count);
	if (open)
		text_wrap(report->out, report->width, "", 1,
			  "(\">\" still in flight at the end of the interval)");
	return err ? err : text_ranked_stacks(report, stacks, count, KERNEL_FUNCTIONS);
}
