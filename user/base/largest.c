// SPDX-License-Identifier: BSD-2-Clause
/* The largest numbers of a stream in a binary heap. */
#include "base/largest.h"

#include <errno.h>

uint64_t largest_bound(const struct largest *largest)
{
	uint64_t smallest;

	if (!largest->limit)
		return UINT64_MAX;
	if (largest->heap.count < largest->limit)
		return 0;
	smallest = largest->heap.items[0].value;
	return smallest < UINT64_MAX ? smallest + 1 : UINT64_MAX;
}

/* Moves a new last item towards the top, past those that are larger. */
static void rise(struct largest_item *items, size_t at)
{
	struct largest_item item = items[at];

	while (at && items[(at - 1) / 2].value > item.value) {
		items[at] = items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	items[at] = item;
}

/* Moves a new top item down, past those that are smaller. */
static void sink(struct largest_item *items, size_t count)
{
	struct largest_item item = items[0];
	size_t at = 0, next;

	while ((next = 2 * at + 1) < count) {
		if (next + 1 < count && items[next + 1].value < items[next].value)
			next++;
		if (items[next].value >= item.value)
			break;
		items[at] = items[next];
		at = next;
	}
	items[at] = item;
}

int largest_add(struct largest *largest, uint64_t value, size_t *ret_slot)
{
	struct largest_item *item;

	if (largest->heap.count < largest->limit) {
		item = array_add(&largest->heap);
		if (!item)
			return -ENOMEM;
		*item = (struct largest_item){.value = value, .slot = largest->heap.count - 1};
		*ret_slot = item->slot;
		rise(largest->heap.items, largest->heap.count - 1);
		return 1;
	}
	if (!largest->limit || value <= largest->heap.items[0].value)
		return 0;
	item = &largest->heap.items[0];
	item->value = value;
	*ret_slot = item->slot;
	sink(largest->heap.items, largest->heap.count);
	return 1;
}

void largest_clear(struct largest *largest)
{
	largest->heap.count = 0;
}

void largest_done(struct largest *largest)
{
	array_free(&largest->heap);
}
