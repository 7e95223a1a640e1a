// SPDX-License-Identifier: BSD-2-Clause
/* Adds up sampled allocations; rows_work_add_memory() brings what has no stack. */
#include "rows/part/row_heap.h"

#include "base/array.h"
#include "rows/figure.h"
#include "rows/resource_rows.h"

/* In windows (allocators of running processes) nobody sees what is freed. */
#define KNOWS_LIVE (ROW_HAS_LIVE | ROW_HAS_FREED)

/* Behind those of row_faults.c: they are one group. */
static const struct figure figures[] = {
	FIGURE_ROW("memory", "heap_allocated", BYTES, heap.allocated_bytes, ROW_HAS_ALLOC,
		   "bytes allocated, an estimate; of running processes those of the windows"),
	FIGURE_ROW("memory", "heap_allocations", COUNT, heap.allocations, ROW_HAS_ALLOC,
		   "allocations, an estimate; of running processes those of the windows"),
	FIGURE_ROW("memory", "heap_live", BYTES, heap.live_bytes, KNOWS_LIVE,
		   "bytes not freed at the end, or at the exit of the process, an estimate",
		   .is_level = true),
	FIGURE_ROW("memory", "heap_peak", BYTES, heap.peak_bytes, KNOWS_LIVE,
		   "the most bytes of one process that were not freed, an estimate",
		   .is_largest = true,
		   .max_offset = offsetof(struct resource_row, heap.peak_bytes)),
	FIGURE_ROW("memory", "heap_growth", BYTES, heap.growth_bytes, KNOWS_LIVE,
		   "growth per second of places of allocation that grow like a leak",
		   .is_level = true),
	FIGURE_ROW("memory", "swap", BYTES, heap.swap_bytes, ROW_HAS_MEMORY,
		   "memory in swap at the end", .is_level = true),
};

static void add_stack(const struct resource_rows *rows, struct resource_row *row,
		      const struct profile_row *stack)
{
	(void)rows;
	if (stack->kind == PKBPF_PROFILE_ALLOC) {
		row->heap.allocated_bytes += stack->weight;
		row->heap.allocations += stack->count;
	} else if (stack->kind == PKBPF_PROFILE_LIVE) {
		row->heap.live_bytes += stack->weight;
	}
}

static void finish(const struct resource_rows *rows, struct resource_row *row)
{
	const struct profile_info *info = profile_info_read(rows->profile);

	if (!info->counters[PKBPF_COUNTER_ALLOC_WINDOWS] ||
	    rows->total.kind_weight[PKBPF_PROFILE_LIVE])
		row->known |= ROW_HAS_FREED;
}

const struct row_part row_heap_part = {
	.figures = figures,
	.figure_count = ARRAY_SIZE(figures),
	.add_stack = add_stack,
	.finish = finish,
};
