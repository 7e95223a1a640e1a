// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the free ranges sorted and merged. */
#include "unwind/table/extent_allocator.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct range {
	uint32_t start;
	uint32_t count;
};

struct extent_allocator {
	uint32_t size;
	uint32_t free_count;
	ARRAY_OF(struct range) ranges; /* ascending, never adjacent */
};

struct extent_allocator *extent_allocator_new(uint32_t size)
{
	struct extent_allocator *allocator = calloc(1, sizeof(*allocator));
	struct range *all;

	if (!allocator)
		return NULL;
	allocator->size = allocator->free_count = size;
	if (size) {
		all = array_add(&allocator->ranges);
		if (!all) {
			free(allocator);
			return NULL;
		}
		all->count = size;
	}
	return allocator;
}

void extent_allocator_free(struct extent_allocator *allocator)
{
	if (!allocator)
		return;
	array_free(&allocator->ranges);
	free(allocator);
}

static void remove_range(struct extent_allocator *allocator, size_t index)
{
	struct range *items = allocator->ranges.items;

	memmove(&items[index], &items[index + 1],
		(allocator->ranges.count - index - 1) * sizeof(*items));
	allocator->ranges.count--;
}

bool extent_allocator_take(struct extent_allocator *allocator, uint32_t count, uint32_t *ret_start)
{
	struct range *best = NULL;

	array_foreach(&allocator->ranges, range) {
		if (range->count >= count && (!best || range->count < best->count)) {
			best = range;
			if (range->count == count)
				break;
		}
	}
	if (!best || count == 0)
		return false;
	*ret_start = best->start;
	best->start += count;
	best->count -= count;
	allocator->free_count -= count;
	if (!best->count)
		remove_range(allocator, (size_t)(best - allocator->ranges.items));
	return true;
}

bool extent_allocator_give(struct extent_allocator *allocator, uint32_t start, uint32_t count)
{
	struct range *items = allocator->ranges.items;
	size_t low = 0, high = allocator->ranges.count;
	bool joins_left, joins_right;

	if (count == 0 || start >= allocator->size || count > allocator->size - start)
		return false;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (items[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	/* low: the first free range after the returned one. */
	if (low < allocator->ranges.count && items[low].start < start + count)
		return false;
	if (low > 0 && items[low - 1].start + items[low - 1].count > start)
		return false;
	joins_left = low > 0 && items[low - 1].start + items[low - 1].count == start;
	joins_right = low < allocator->ranges.count && items[low].start == start + count;
	if (joins_left && joins_right) {
		items[low - 1].count += count + items[low].count;
		remove_range(allocator, low);
	} else if (joins_left) {
		items[low - 1].count += count;
	} else if (joins_right) {
		items[low].start = start;
		items[low].count += count;
	} else {
		if (!array_reserve(&allocator->ranges, allocator->ranges.count + 1))
			return false;
		items = allocator->ranges.items;
		memmove(&items[low + 1], &items[low],
			(allocator->ranges.count - low) * sizeof(*items));
		items[low] = (struct range){start, count};
		allocator->ranges.count++;
	}
	allocator->free_count += count;
	return true;
}

uint32_t extent_allocator_largest(const struct extent_allocator *allocator)
{
	uint32_t largest = 0;

	array_foreach(&allocator->ranges, range) {
		if (range->count > largest)
			largest = range->count;
	}
	return largest;
}

uint32_t extent_allocator_free_count(const struct extent_allocator *allocator)
{
	return allocator->free_count;
}
