// SPDX-License-Identifier: BSD-2-Clause
/* Prints the regions and calls that took longest one by one, and the stacks that left them. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "report/summary.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "rows/human.h"

DEFINE_CLEANUP(struct text_table *, text_table_free)

/* Of the page: a title, a heading of columns, and the stack of the slowest one. */
#define OTHER_LINES 5

static const struct text_column columns[] = {
	{.title = "#"},
	{.title = "start s", .max_columns = 10},
	{.title = "pid"},
	{.title = "comm", .left = true, .max_columns = PKBPF_COMM_SIZE, .flexible = true},
	{.title = "tid", .expendable = 2},
	{.title = "region", .left = true, .flexible = true, .max_columns = 48},
	/* Hostile recordings may say anything. */
	{.title = "time", .max_columns = 12},
	{.title = "on-CPU", .max_columns = 12},
	{.title = "run queue", .max_columns = 12},
	{.title = "sleep", .max_columns = 12},
	{.title = "disk", .max_columns = 12, .expendable = 1},
};

static void add_parts(struct text_table *table, const struct slow_region *region)
{
	const uint64_t *part_ns = region->part_ns;
	const uint64_t shown_ns[] = {
		part_ns[PKBPF_WAIT_NONE],
		part_ns[PKBPF_WAIT_RUNQUEUE],
		part_ns[PKBPF_WAIT_SLEEP] + part_ns[PKBPF_WAIT_STOPPED],
		part_ns[PKBPF_WAIT_DISK] + part_ns[PKBPF_WAIT_UNINTERRUPTIBLE],
	};
	bool is_known = false;
	char buffer[HUMAN_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(shown_ns); i++)
		is_known |= shown_ns[i] != 0;
	for (size_t i = 0; i < ARRAY_SIZE(shown_ns); i++)
		text_table_cell(table, !is_known     ? "-"
				       : shown_ns[i] ? human_time(buffer, shown_ns[i])
						     : ".");
}

static void add_row(struct text_table *table, const struct text_report *report,
		    const struct slow_region *region, size_t rank)
{
	const struct profile_info *info = profile_info_read(report->profile);
	/* It may have begun before its interval. */
	double at_ns = (double)(int64_t)(region->start_ns - info->start_ns);
	char buffer[HUMAN_SIZE];

	text_table_cellf(table, "%zu", rank);
	text_table_cellf(table, "%.3f", at_ns / NS_PER_SECOND);
	text_who(table, report, region->process, profile_string(report->profile, region->comm));
	text_table_cellf(table, "%u", region->tid);
	text_table_cell(table, profile_string(report->profile, region->name));
	text_table_cell(table, human_time(buffer, region->wall_ns));
	add_parts(table, region);
}

static int write_table(const struct text_report *report, const struct slow_region *const *items,
		       size_t count)
{
	_cleanup_(text_table_free_cleanup) struct text_table *table =
		text_table_new(columns, ARRAY_SIZE(columns));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		add_row(table, report, items[i], i + 1);
	return text_table_write(table, report->width, report->out);
}

static int write_slowest(const struct text_report *report, size_t most, size_t most_stacks)
{
	_cleanup_free_ const struct slow_region **items = NULL;
	_cleanup_free_ uint32_t *stacks = NULL;
	size_t count;
	int err = slow_region_list_sorted(profile_slow_regions(report->profile), &items, &count);

	if (err || !count || !most)
		return err;
	count = count < most ? count : most;
	stacks = calloc(count, sizeof(*stacks));
	if (!stacks)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		stacks[i] = items[i]->stack;
	text_heading(report, "Slowest regions and calls (stack at the end: leaf <- caller)");
	err = write_table(report, items, count);
	count = count < most_stacks ? count : most_stacks;
	return err ? err : text_ranked_stacks(report, stacks, count, SIZE_MAX);
}

int text_slow_regions(const struct text_report *report)
{
	return write_slowest(report, SIZE_MAX, SIZE_MAX);
}

int summary_slow_regions(const struct summary *summary, size_t lines)
{
	return write_slowest(&summary->report, lines > OTHER_LINES ? lines - OTHER_LINES : 0, 1);
}
