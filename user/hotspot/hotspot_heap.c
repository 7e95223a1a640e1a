// SPDX-License-Identifier: BSD-2-Clause
/* Reads CodeHeap structures (src/hotspot/share/memory/heap.hpp), and checks what they say. */
#include "hotspot/hotspot_heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* 64 bytes to 64 KiB; HotSpot takes 64 or 128. */
#define MIN_LOG2 6
#define MAX_LOG2 16

static int read_word(const struct hotspot_memory *memory, uint64_t address, uint64_t *ret_value)
{
	return hotspot_read(memory, address, ret_value, sizeof(*ret_value));
}

/* Addresses of the CodeHeaps. */
static int list_heaps(const struct hotspot_layout *layout, uint64_t bias,
		      const struct hotspot_memory *memory, uint64_t *addresses, size_t *ret_count)
{
	uint64_t array, data;
	uint32_t length;
	int err;

	*ret_count = 1;
	if (!layout->heaps)
		return read_word(memory, layout->one_heap + bias, addresses);
	err = read_word(memory, layout->heaps + bias, &array);
	if (!err && !array)
		err = -EBADMSG;
	if (!err)
		err = hotspot_read(memory, array + layout->at.array_length.offset, &length,
				   sizeof(length));
	if (!err)
		err = read_word(memory, array + layout->at.array_data.offset, &data);
	if (err)
		return err;
	if (!length || length > HOTSPOT_MAX_HEAPS)
		return -EBADMSG;
	*ret_count = length;
	return hotspot_read(memory, data, addresses, length * sizeof(*addresses));
}

static uint64_t field_within(const struct hotspot_heap *heap, struct hotspot_field outer,
			     struct hotspot_field inner)
{
	inner.offset = (uint16_t)(inner.offset + outer.offset);
	return hotspot_field_get(heap->bytes, sizeof(heap->bytes), inner);
}

static int check_heap(const struct hotspot_layout *layout, struct hotspot_heap *heap)
{
	const struct hotspot_fields *at = &layout->at;
	uint64_t map_end = field_within(heap, at->heap_segment_map, at->space_high), segments;

	heap->range = (struct hotspot_heap_range){
		.start = field_within(heap, at->heap_memory, at->space_low),
		.end = field_within(heap, at->heap_memory, at->space_high),
		.reserved_end = field_within(heap, at->heap_memory, at->space_high_boundary),
	};
	heap->map_start = field_within(heap, at->heap_segment_map, at->space_low);
	heap->log2_segment_size = (unsigned int)hotspot_field_get(heap->bytes, sizeof(heap->bytes),
								  at->heap_log2_segment_size);
	if (!heap->range.start || heap->range.start > heap->range.end ||
	    heap->range.end > heap->range.reserved_end ||
	    heap->range.reserved_end - heap->range.start > HOTSPOT_MAX_HEAP_BYTES ||
	    heap->log2_segment_size < MIN_LOG2 || heap->log2_segment_size > MAX_LOG2)
		return -EBADMSG;
	segments = (heap->range.end - heap->range.start) >> heap->log2_segment_size;
	if (map_end < heap->map_start || map_end - heap->map_start < segments)
		return -EBADMSG;
	heap->map_size = (size_t)segments;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	uint64_t left = ((const struct hotspot_heap *)a)->range.start,
		 right = ((const struct hotspot_heap *)b)->range.start;

	return left < right ? -1 : left > right;
}

int hotspot_heaps_read(const struct hotspot_layout *layout, uint64_t bias,
		       const struct hotspot_memory *memory, struct hotspot_heaps *ret_heaps)
{
	uint64_t addresses[HOTSPOT_MAX_HEAPS], reserved = 0;
	size_t count = 0;
	int err = list_heaps(layout, bias, memory, addresses, &count);

	*ret_heaps = (struct hotspot_heaps){0};
	if (!err && layout->heap_struct_size > HOTSPOT_HEAP_STRUCT_BYTES)
		err = -EBADMSG;
	for (size_t i = 0; i < count && !err; i++) {
		struct hotspot_heap *heap = &ret_heaps->items[i];

		heap->address = addresses[i];
		err = hotspot_read(memory, addresses[i], heap->bytes, layout->heap_struct_size);
		if (!err)
			err = check_heap(layout, heap);
		if (!err)
			reserved += heap->range.reserved_end - heap->range.start;
		/* No JVM reserves more; the maps of all are read at each change. */
		if (reserved > HOTSPOT_MAX_ALL_HEAPS_BYTES)
			err = -EBADMSG;
	}
	if (err)
		return err;
	qsort(ret_heaps->items, count, sizeof(ret_heaps->items[0]), by_address);
	for (size_t i = 1; i < count; i++)
		if (ret_heaps->items[i].range.start < ret_heaps->items[i - 1].range.reserved_end)
			return -EBADMSG;
	ret_heaps->count = count;
	return 0;
}

bool hotspot_heaps_equal(const struct hotspot_layout *layout, const struct hotspot_heaps *a,
			 const struct hotspot_heaps *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->items[i].address != b->items[i].address ||
		    memcmp(a->items[i].bytes, b->items[i].bytes, layout->heap_struct_size) != 0)
			return false;
	return true;
}

int hotspot_heaps_read_maps(const struct hotspot_memory *memory, struct hotspot_heaps *heaps)
{
	for (size_t i = 0; i < heaps->count; i++) {
		struct hotspot_heap *heap = &heaps->items[i];
		int err;

		if (!heap->map_size)
			continue;
		heap->map = malloc(heap->map_size);
		if (!heap->map)
			return -ENOMEM;
		err = hotspot_read(memory, heap->map_start, heap->map, heap->map_size);
		if (err)
			return err;
	}
	return 0;
}

void hotspot_heaps_done(struct hotspot_heaps *heaps)
{
	for (size_t i = 0; i < heaps->count; i++)
		free(heaps->items[i].map);
	*heaps = (struct hotspot_heaps){0};
}
