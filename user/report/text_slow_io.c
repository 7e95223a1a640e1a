// SPDX-License-Identifier: BSD-2-Clause
/* Prints the slowest block requests one by one, and the stacks that submitted them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "profile/function_table.h"
#include "rows/devices.h"
#include "rows/human.h"
#include "report/text_sections.h"
#include "report/text_table.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)
DEFINE_CLEANUP(struct function_table *, function_table_free)

/* Functions of the kernel shown of a stack: the way down to the device is much the same for
 * everybody. */
#define KERNEL_FUNCTIONS 2
/* Columns after which further requests of a stack are left out of its label. */
#define LABEL_COLUMNS 60
#define NONE	      SIZE_MAX

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

/* next[]: of each request the next one with the same stack, or NONE; follows[]: is such a next
 * one. */
static int link_stacks(const struct slow_io *const *items, size_t count, size_t *next,
		       bool *follows)
{
	struct hash_map latest = {0};
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		uint64_t *before;

		next[i] = NONE;
		before = hash_map_get(&latest, items[i]->stack, i, &follows[i]);
		if (!before) {
			err = -ENOMEM;
			break;
		}
		follows[i] = !follows[i];
		if (follows[i])
			next[*before] = i;
		*before = i;
	}
	hash_map_done(&latest);
	return err;
}

/* " #1-3, 7: " */
static void stack_label(char label[128], const size_t *next, size_t first)
{
	size_t at = first, length = (size_t)sprintf(label, " #");

	while (at != NONE && length < LABEL_COLUMNS) {
		size_t last = at;

		while (next[last] == last + 1)
			last++;
		length += (size_t)sprintf(label + length, "%s%zu", at == first ? "" : ", ", at + 1);
		if (last > at)
			length += (size_t)sprintf(label + length, "-%zu", last + 1);
		at = next[last];
	}
	strcpy(label + length, at == NONE ? ": " : ", ...: ");
}

static int write_stacks(const struct text_report *report, const struct slow_io *const *items,
			size_t count)
{
	struct function_table_options options = {.merge = true};
	_cleanup_(function_table_free_cleanup) struct function_table *functions =
		function_table_new(report->profile, &options);
	_cleanup_free_ size_t *next = calloc(count, sizeof(*next));
	_cleanup_free_ bool *follows = calloc(count, sizeof(*follows));
	char label[128];

	if (!functions || !next || !follows || link_stacks(items, count, next, follows))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (follows[i])
			continue;
		stack_label(label, next, i);
		text_leaf_frames(report, functions, items[i]->stack, KERNEL_FUNCTIONS, label);
	}
	return 0;
}

int text_slow_io(const struct text_report *report)
{
	_cleanup_free_ const struct slow_io **items = NULL;
	bool open = false;
	size_t count;
	int err = slow_io_list_sorted(profile_slow_io(report->profile), &items, &count);

	if (err || !count)
		return err;
	for (size_t i = 0; i < count; i++)
		open |= items[i]->open;
	text_heading(report, "Slowest block I/O requests (submitter's stack: leaf <- caller)");
	err = write_table(report, items, count);
	if (open)
		text_wrap(report->out, report->width, "", 1,
			  "(\">\" still in flight at the end of the interval)");
	return err ? err : write_stacks(report, items, count);
}
