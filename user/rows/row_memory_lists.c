// SPDX-License-Identifier: BSD-2-Clause
/* Adds what the lists of heaps, of memory over time and of GPUs say of processes to their rows. */
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
	if (place->mean_bytes > row->heap.mean_bytes)
		row->heap.mean_bytes = place->mean_bytes;
	if (place->trend == HEAP_TREND_GROWS)
		row->heap.growth_bytes += place->growth_per_second;
}

static void add_heaps(struct rows_work *work)
{
	array_foreach(&profile_heaps(work->profile)->items, place) {
		struct resource_row *row = row_of(work, place->pid, place->peak_ns);

		add_place(&work->rows->total, place);
		if (row)
			add_place(row, place);
	}
}

static void add_mean(struct resource_row *row, const struct memory_row *series)
{
	struct row_memory *memory = &row->memory;
	uint64_t begin_ns = series->points[0]->time_ns;
	uint64_t end_ns = memory_row_last(series)->time_ns;

	/* Of one point there is no time. */
	if (begin_ns == end_ns)
		return;
	if (!(row->known & ROW_HAS_MEAN_RSS) || begin_ns < memory->rss_begin_ns)
		memory->rss_begin_ns = begin_ns;
	if (end_ns > memory->rss_end_ns)
		memory->rss_end_ns = end_ns;
	row->known |= ROW_HAS_MEAN_RSS;
	memory->rss_byte_ns += series->byte_ns;
	memory->mean_rss_bytes = (uint64_t)(memory->rss_byte_ns /
					    (double)(memory->rss_end_ns - memory->rss_begin_ns));
}

void rows_work_add_gpus(struct rows_work *work)
{
	array_foreach(&profile_gpus(work->profile)->processes, process) {
		struct resource_row *row = row_of(work, process->pid, process->end_ns);

		row_gpu_add(&work->rows->total, process);
		if (row)
			row_gpu_add(row, process);
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

		add_mean(&work->rows->total, &memory.items[i]);
		if (row)
			add_mean(row, &memory.items[i]);
		/* Who has ended has nothing at the end. */
		if (!row || (row->ended_inside && row->processes == 1))
			continue;
		row->heap.swap_bytes += last->swap;
		work->rows->total.heap.swap_bytes += last->swap;
	}
	return err;
}
