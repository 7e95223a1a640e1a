// SPDX-License-Identifier: BSD-2-Clause
/* Adds what the lists of heaps and of memory over time say of processes to their rows. */
#include "rows/memory_series.h"

#include "base/cleanup.h"
#include "rows/resource_rows_work.h"

/* The row of who had the pid at that time; NULL: not in the account. */
static struct resource_row *row_of(struct rows_work *work, uint32_t pid, uint64_t time_ns)
{
	uint32_t number;
	size_t index;

	if (!resource_usage_known(work->usage) ||
	    !resource_usage_find(work->usage, pid, time_ns, &index))
		return NULL;
	number = work->row_of_usage.items[index];
	return number == NO_ROW ? NULL : &work->items.items[number];
}

static void add_place(struct resource_row *row, const struct heap_place *place)
{
	if (place->peak_bytes > row->heap.peak_bytes)
		row->heap.peak_bytes = place->peak_bytes;
	if (place->trend == HEAP_TREND_GROWS)
		row->heap.growth_bytes += place->growth_per_second;
}

static void add_heaps(struct rows_work *work)
{
	array_foreach(&profile_heaps_read(work->profile)->items, place) {
		struct resource_row *row = row_of(work, place->pid, place->peak_ns);

		add_place(&work->rows->total, place);
		if (row)
			add_place(row, place);
	}
}

int rows_work_add_memory(struct rows_work *work)
{
	_cleanup_(memory_rows_done) struct memory_rows memory = {0};
	int err;

	add_heaps(work);
	err = memory_rows_make(work->profile, &memory);
	for (size_t i = 0; !err && i < memory.count; i++) {
		const struct memory_point *last = memory_row_last(&memory.items[i]);
		struct resource_row *row = row_of(work, last->pid, last->time_ns);

		/* Who has ended has nothing at the end. */
		if (!row || (row->ended_inside && row->processes == 1))
			continue;
		row->heap.swap_bytes += last->swap;
		work->rows->total.heap.swap_bytes += last->swap;
	}
	return err;
}
