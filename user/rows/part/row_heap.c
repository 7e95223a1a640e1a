// SPDX-License-Identifier: BSD-2-Clause
/* Adds up sampled allocations; rows_work_add_memory() brings what has no stack. */
#include "rows/part/row_heap.h"

#include "base/array.h"
#include "rows/figure.h"
#include "rows/resource_rows.h"

/* In windows (allocators of running processes) frees are not seen. */
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
	FIGURE_ROW("memory", "heap_mean", BYTES, heap.mean_bytes, KNOWS_LIVE,
		   "mean bytes of one process that were not freed, since its first allocation, an "
		   "estimate",
		   .is_largest = true,
		   .max_offset = offsetof(struct resource_row, heap.peak_bytes)),
	FIGURE_ROW("memory", "heap_kept", BYTES, heap.kept_bytes, KNOWS_LIVE | ROW_HAS_KEPT,
		   "bytes that the process has freed since its peak and its allocator still holds, "
		   "at least, an estimate",
		   .is_level = true),
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

/*
 * Of what the process has freed since its live heap was largest, what the kernel did not get back:
 * resident memory has fallen by less. The peak of resident memory may be older than that of the
 * heap; then it is more than that. Of several processes neither peak is known.
 */
static void find_kept(struct resource_row *row)
{
	const struct row_heap *heap = &row->heap;
	uint64_t freed, fell;

	if (row->processes != 1 || !(row->known & ROW_HAS_FREED) || !(row->known & ROW_HAS_RSS) ||
	    heap->peak_bytes < heap->live_bytes)
		return;
	row->known |= ROW_HAS_KEPT;
	freed = heap->peak_bytes - heap->live_bytes;
	fell = row->memory.peak_rss_bytes - row->memory.rss_bytes;
	freed = freed > fell ? freed - fell : 0;
	row->heap.kept_bytes =
		freed < row->memory.private_bytes ? freed : row->memory.private_bytes;
}

static void finish(const struct resource_rows *rows, struct resource_row *row)
{
	const struct profile_info *info = profile_info_read(rows->profile);

	if (!info->counters[PKBPF_COUNTER_ALLOC_WINDOWS] ||
	    rows->total.kind_weight[PKBPF_PROFILE_LIVE])
		row->known |= ROW_HAS_FREED;
	find_kept(row);
}

const struct row_part row_heap_part = {
	.figures = figures,
	.figure_count = ARRAY_SIZE(figures),
	.add_stack = add_stack,
	.finish = finish,
};
