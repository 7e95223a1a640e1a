// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the slowest of any number of block requests. */
#include "profile/account/slow_io.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/largest.h"

struct slow_io_list {
	struct largest slowest;
	ARRAY_OF(struct slow_io) items; /* by their slot */
};

struct slow_io_list *slow_io_list_new(void)
{
	return calloc(1, sizeof(struct slow_io_list));
}

void slow_io_list_limit(struct slow_io_list *list, size_t limit)
{
	list->slowest.limit = limit;
}

size_t slow_io_list_max(const struct slow_io_list *list)
{
	return list->slowest.limit;
}

void slow_io_list_free(struct slow_io_list *list)
{
	if (!list)
		return;
	largest_done(&list->slowest);
	array_free(&list->items);
	free(list);
}

uint64_t slow_io_total_ns(const struct slow_io *slow_io)
{
	return slow_io->queue_ns + slow_io->device_ns;
}

int slow_io_list_add(struct slow_io_list *list, const struct slow_io *slow_io)
{
	size_t slot;
	int kept;

	/* Reserved first, so that every slot has its place. */
	if (!array_reserve(&list->items, list->items.count + 1))
		return -ENOMEM;
	kept = largest_add(&list->slowest, slow_io_total_ns(slow_io), &slot);
	if (kept <= 0)
		return kept;
	if (slot == list->items.count)
		array_add(&list->items);
	list->items.items[slot] = *slow_io;
	return 0;
}

const struct slow_io *slow_io_list_at(const struct slow_io_list *list, size_t index)
{
	return index < list->items.count ? &list->items.items[index] : NULL;
}

void slow_io_list_renumber(struct slow_io_list *list, const uint32_t *numbers)
{
	array_foreach(&list->items, item)
		item->stack = numbers[item->stack];
}

static int compare(const void *left, const void *right)
{
	const struct slow_io *a = *(const struct slow_io *const *)left,
			     *b = *(const struct slow_io *const *)right;
	uint64_t a_ns = slow_io_total_ns(a), b_ns = slow_io_total_ns(b);

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	return a->insert_ns < b->insert_ns ? -1 : a->insert_ns > b->insert_ns;
}

int slow_io_list_sorted(const struct slow_io_list *list, const struct slow_io ***ret_items,
			size_t *ret_count)
{
	size_t count = list->items.count;
	const struct slow_io **items = calloc(count + 1, sizeof(struct slow_io *));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		items[i] = &list->items.items[i];
	qsort(items, count, sizeof(struct slow_io *), compare);
	*ret_items = items;
	*ret_count = count;
	return 0;
}
