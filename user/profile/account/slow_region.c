// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the slowest of any number of regions and calls. */
#include "profile/account/slow_region.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/largest.h"

struct slow_region_list {
	struct largest slowest;
	ARRAY_OF(struct slow_region) items; /* by their slot */
};

struct slow_region_list *slow_region_list_new(void)
{
	return calloc(1, sizeof(struct slow_region_list));
}

void slow_region_list_limit(struct slow_region_list *list, size_t limit)
{
	list->slowest.limit = limit;
}

size_t slow_region_list_max(const struct slow_region_list *list)
{
	return list->slowest.limit;
}

void slow_region_list_free(struct slow_region_list *list)
{
	if (!list)
		return;
	largest_done(&list->slowest);
	array_free(&list->items);
	free(list);
}

int slow_region_list_add(struct slow_region_list *list, const struct slow_region *slow_region)
{
	size_t slot;
	int kept;

	/* Reserved first, so that every slot has its place. */
	if (!array_reserve(&list->items, list->items.count + 1))
		return -ENOMEM;
	kept = largest_add(&list->slowest, slow_region->wall_ns, &slot);
	if (kept <= 0)
		return kept;
	if (slot == list->items.count)
		array_add(&list->items);
	list->items.items[slot] = *slow_region;
	return 0;
}

const struct slow_region *slow_region_list_at(const struct slow_region_list *list, size_t index)
{
	return index < list->items.count ? &list->items.items[index] : NULL;
}

void slow_region_list_renumber(struct slow_region_list *list, const uint32_t *numbers)
{
	array_foreach(&list->items, item)
		item->stack = numbers[item->stack];
}

static int compare(const void *left, const void *right)
{
	const struct slow_region *a = *(const struct slow_region *const *)left,
				 *b = *(const struct slow_region *const *)right;
	uint64_t a_ns = a->wall_ns, b_ns = b->wall_ns;

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

int slow_region_list_sorted(const struct slow_region_list *list,
			    const struct slow_region ***ret_items, size_t *ret_count)
{
	size_t count = list->items.count;
	const struct slow_region **items = calloc(count + 1, sizeof(struct slow_region *));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		items[i] = &list->items.items[i];
	qsort(items, count, sizeof(struct slow_region *), compare);
	*ret_items = items;
	*ret_count = count;
	return 0;
}
