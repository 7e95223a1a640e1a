// SPDX-License-Identifier: BSD-2-Clause
/* Sorts and merges lists of functions. */
#include "unwind/cfi/fde_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/large_memory.h"

#define RADIX_BITS   11
#define RADIX_SIZE   (1U << RADIX_BITS)
#define RADIX_ROUNDS 3 /* 33 bits */
#define INDEX_BITS   32

static bool is_ordered(const struct fde_list *list)
{
	for (size_t i = 1; i < list->count; i++)
		if (list->items[i].start < list->items[i - 1].start)
			return false;
	return true;
}

/* LSD radix sort: stable, and linear for any input. Keys are start << 32 | index. */
static void radix_sort(uint64_t *keys, uint64_t *spare, size_t count)
{
	for (unsigned int round = 0; round < RADIX_ROUNDS; round++) {
		unsigned int shift = INDEX_BITS + round * RADIX_BITS;
		uint32_t position[RADIX_SIZE] = {0};
		uint64_t *swap = keys;
		uint32_t sum = 0;

		for (size_t i = 0; i < count; i++)
			position[keys[i] >> shift & (RADIX_SIZE - 1)]++;
		for (uint32_t digit = 0; digit < RADIX_SIZE; digit++) {
			uint32_t here = position[digit];

			position[digit] = sum;
			sum += here;
		}
		for (size_t i = 0; i < count; i++)
			spare[position[keys[i] >> shift & (RADIX_SIZE - 1)]++] = keys[i];
		keys = spare;
		spare = swap;
	}
}

static bool order(struct fde_list *list)
{
	_cleanup_free_ uint64_t *keys = NULL;
	struct fde *ordered;

	if (is_ordered(list))
		return true;
	keys = calloc(list->count * 2, sizeof(*keys));
	ordered = large_malloc(list->count * sizeof(*ordered));
	if (!keys || !ordered) {
		free(ordered);
		return false;
	}
	for (size_t i = 0; i < list->count; i++)
		keys[i] = (uint64_t)list->items[i].start << INDEX_BITS | i;
	radix_sort(keys, keys + list->count, list->count);
	/* An odd number of rounds leaves the result in the second half. */
	for (size_t i = 0; i < list->count; i++)
		ordered[i] = list->items[keys[list->count + i] & UINT32_MAX];
	free(list->items);
	list->items = ordered;
	list->capacity = list->count;
	return true;
}

bool fde_list_sort(struct fde_list *list)
{
	size_t kept = 0;

	if (list->count == 0)
		return true;
	if (!order(list))
		return false;
	for (size_t i = 0; i < list->count; i++) {
		struct fde *each = &list->items[i];

		if (kept > 0) {
			struct fde *previous = &list->items[kept - 1];

			if (previous->start == each->start)
				continue;
			if (each->start - previous->start < previous->size)
				previous->size = each->start - previous->start;
		}
		list->items[kept++] = *each;
	}
	list->count = kept;
	return true;
}

bool fde_list_fill_gaps(struct fde_list *list, struct fde_list *others)
{
	struct fde_list merged = {0};
	size_t next = 0;

	if (others->count == 0)
		return true;
	if (list->count == 0) {
		merged = *list;
		*list = *others;
		*others = merged;
		return true;
	}
	if (!array_reserve(&merged, list->count + others->count))
		return false;
	for (size_t i = 0; i < others->count; i++) {
		const struct fde *other = &others->items[i];
		uint64_t taken = 0; /* end of the previous function */

		while (next < list->count && list->items[next].start < other->start)
			merged.items[merged.count++] = list->items[next++];
		if (merged.count > 0)
			taken = (uint64_t)merged.items[merged.count - 1].start +
				merged.items[merged.count - 1].size;
		if (other->start < taken ||
		    (next < list->count &&
		     list->items[next].start < (uint64_t)other->start + other->size))
			continue;
		merged.items[merged.count++] = *other;
	}
	while (next < list->count)
		merged.items[merged.count++] = list->items[next++];
	free(list->items);
	*list = merged;
	return true;
}
