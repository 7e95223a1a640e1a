// SPDX-License-Identifier: BSD-2-Clause
/* Rows by region: what was recorded inside each, and of the threads' time what each had to itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "rows/resource_rows_work.h"

uint32_t rows_work_region_row(struct rows_work *work, const char *name)
{
	uint32_t number = rows_work_named_row(work, name);
	struct resource_row *row;

	if (number == NO_ROW)
		return NO_ROW;
	row = &work->items.items[number];
	snprintf(row->name, sizeof(row->name), "%s", name);
	row->started_inside = row->ended_inside = false;
	return number;
}

/* Regions are at the root of a stack, the innermost one next to the program. */
uint32_t rows_work_stack_region_row(struct rows_work *work, uint32_t stack)
{
	char name[ROW_NAME_SIZE];
	const struct symbol *symbol;
	size_t count, at;
	const uint32_t *frames = profile_stack(work->profile, stack, &count);

	snprintf(name, sizeof(name), "%s", rows_rest_name(work->rows->by));
	for (at = count; at; at--)
		if (profile_frame(work->profile, frames[at - 1])->location.space != FRAME_REGION)
			break;
	symbol = at < count ? &profile_frame(work->profile, frames[at])->symbol : NULL;
	if (symbol && symbol->line_count && strlen(symbol->lines[0].function) > 2)
		/* It is in brackets. */
		snprintf(name, sizeof(name), "%.*s", (int)strlen(symbol->lines[0].function) - 2,
			 symbol->lines[0].function + 1);
	return rows_work_region_row(work, name);
}

/* A part of the time of threads, which was outside of all regions until now. */
static void move(uint64_t *from, uint64_t *into, uint64_t time_ns)
{
	if (time_ns > *from)
		time_ns = *from;
	*from -= time_ns;
	*into += time_ns;
}

static void move_parts(struct row_waits *from, struct row_waits *into, const uint64_t *part_ns)
{
	uint64_t before_ns = into->on_cpu_ns + into->offcpu_ns, moved_ns;

	move(&from->on_cpu_ns, &into->on_cpu_ns, part_ns[PKBPF_WAIT_NONE]);
	move(&from->runqueue_ns, &into->runqueue_ns, part_ns[PKBPF_WAIT_RUNQUEUE]);
	move(&from->sleep_ns, &into->sleep_ns, part_ns[PKBPF_WAIT_SLEEP]);
	move(&from->disk_ns, &into->disk_ns, part_ns[PKBPF_WAIT_DISK]);
	move(&from->uninterruptible_ns, &into->uninterruptible_ns,
	     part_ns[PKBPF_WAIT_UNINTERRUPTIBLE]);
	move(&from->stopped_ns, &into->stopped_ns, part_ns[PKBPF_WAIT_STOPPED]);
	into->offcpu_ns = into->runqueue_ns + into->sleep_ns + into->disk_ns +
			  into->uninterruptible_ns + into->stopped_ns;
	moved_ns = into->on_cpu_ns + into->offcpu_ns - before_ns;
	into->wall_ns += moved_ns;
	from->wall_ns -= moved_ns;
	from->offcpu_ns = from->wall_ns - from->on_cpu_ns;
}

/* Of what a region took, what those inside of it did not. */
static uint64_t (*self_parts(const struct region_table *table))[PKBPF_WAIT_STATES]
{
	size_t count = region_table_count(table);
	uint64_t(*self)[PKBPF_WAIT_STATES] = calloc(count + 1, sizeof(*self));

	for (size_t i = 0; self && i < count; i++)
		memcpy(self[i], region_table_at(table, i)->sums.part_ns, sizeof(self[i]));
	for (size_t i = 0; self && i < count; i++) {
		const struct region *region = region_table_at(table, i);

		for (size_t j = 0; region->parent != REGION_ROOT && j < PKBPF_WAIT_STATES; j++) {
			uint64_t *around_ns = &self[region->parent][j];
			uint64_t inside_ns = region->sums.part_ns[j];

			*around_ns -= inside_ns < *around_ns ? inside_ns : *around_ns;
		}
	}
	return self;
}

int rows_work_divide_by_region(struct rows_work *work)
{
	const struct region_table *table = profile_regions(work->profile);
	_cleanup_free_ uint64_t(*self)[PKBPF_WAIT_STATES] = self_parts(table);

	if (!self)
		return -ENOMEM;
	for (size_t i = 0; i < region_table_count(table); i++) {
		const struct region *region = region_table_at(table, i);
		bool is_request = region->flags & PKBPF_REGION_REQUEST;
		uint32_t row, rest;

		if (is_request != (work->rows->by == ROWS_BY_LABEL))
			continue;
		row = rows_work_region_row(work, profile_string(work->profile, region->name));
		rest = rows_work_region_row(work, rows_rest_name(work->rows->by));
		if (row == NO_ROW || rest == NO_ROW)
			return -ENOMEM;
		if (row != rest)
			move_parts(&work->items.items[rest].waits, &work->items.items[row].waits,
				   self[i]);
	}
	return 0;
}
