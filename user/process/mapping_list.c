// SPDX-License-Identifier: BSD-2-Clause
/* Keeps mappings sorted; new ones replace the ranges they cover. */
#include "process/mapping_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MIN_CAPACITY 8

/* x86-64, and arm64 with 4 KiB pages. */
#define HUGE_PAGE_BYTES (2ULL << 20)

/* User code is never in the upper half. */
#define USER_ADDRESS_END (1ULL << 63)

bool mapping_has_file(const struct mapping *mapping)
{
	return mapping->file < MAPPING_PROBES;
}

bool mapping_is_unwound(const struct mapping *mapping)
{
	return mapping->start < USER_ADDRESS_END && mapping->file != MAPPING_PROBES;
}

bool mapping_view_is_of_probes(const struct mapping_view *view)
{
	return !view->inode && strcmp(view->path, "[uprobes]") == 0;
}

static bool has_budget(const struct mapping_list *list, size_t extra)
{
	return !list->budget || list->budget->used + extra <= list->budget->limit;
}

static void charge(struct mapping_list *list, size_t added, size_t removed)
{
	if (list->budget)
		list->budget->used = list->budget->used + added - removed;
}

void mapping_list_done(struct mapping_list *list)
{
	charge(list, 0, list->count);
	free(list->memory);
	*list = (struct mapping_list){.budget = list->budget};
}

/* Moves the list to memory with room for `extra` more mappings, half of the room at each end.
 * The kernel places new mappings below older ones, while procfs lists them upwards; neither
 * direction may move the whole list for each mapping. */
static int grow(struct mapping_list *list, size_t extra)
{
	size_t capacity = (list->count + extra) * 2;
	struct mapping *memory, *items;

	if (capacity < MIN_CAPACITY)
		capacity = MIN_CAPACITY;
	memory = malloc(capacity * sizeof(*memory));
	if (!memory)
		return -ENOMEM;
	items = memory + (capacity - list->count) / 2;
	if (list->count)
		memcpy(items, list->items, list->count * sizeof(*items));
	free(list->memory);
	list->memory = memory;
	list->items = items;
	list->capacity = capacity;
	return 0;
}

int mapping_list_copy(const struct mapping_list *list, struct mapping_list *ret_copy)
{
	struct mapping_list copy = {.budget = list->budget};

	if (!has_budget(list, list->count))
		return -ENOSPC;
	/* One change can add two mappings. */
	if (grow(&copy, list->count + 2))
		return -ENOMEM;
	copy.count = list->count;
	copy.items = copy.memory + (copy.capacity - copy.count) / 2;
	if (list->count)
		memcpy(copy.items, list->items, list->count * sizeof(*copy.items));
	charge(&copy, copy.count, 0);
	*ret_copy = copy;
	return 0;
}

/* Index of the first mapping that ends above address. */
static size_t search(const struct mapping_list *list, uint64_t address)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->items[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int make_room(struct mapping_list *list, size_t extra, bool at_front)
{
	size_t room_front = (size_t)(list->items - list->memory),
	       room_back = list->capacity - room_front - list->count;

	if (list->count + extra > MAPPING_LIST_MAX || !has_budget(list, extra))
		return -ENOSPC;
	return (at_front ? room_front : room_back) >= extra ? 0 : grow(list, extra);
}

/* Replaces `removed` mappings at `index` by `added` ones; moves the shorter side. */
static int splice(struct mapping_list *list, size_t index, size_t removed,
		  const struct mapping *with, size_t added)
{
	size_t after = list->count - index - removed;
	int err;

	if (!added && !removed)
		return 0;
	if (added > removed) {
		err = make_room(list, added - removed, index < after);
		if (err)
			return err;
	}
	if (added == removed) {
		/* No mapping moves. */
	} else if (index < after) {
		struct mapping *items = list->items + removed - added;

		memmove(items, list->items, index * sizeof(*items));
		list->items = items;
	} else if (after) {
		memmove(list->items + index + added, list->items + index + removed,
			after * sizeof(*list->items));
	}
	if (added)
		memcpy(list->items + index, with, added * sizeof(*with));
	list->count = list->count + added - removed;
	charge(list, added, removed);
	return 0;
}

/* Programs may copy their text and map it over itself to get huge pages (PHP, Node.js).
 * Executable memory without a file, between two mappings of one file that fit around it, counts
 * as that file. Its size must be a multiple of a huge page: unmapping a library makes no event,
 * and generated code may be in its place. */
static void adopt(struct mapping_list *list, size_t index)
{
	struct mapping *mapping, *before, *behind;

	if (index == 0 || index + 1 >= list->count)
		return;
	mapping = list->items + index;
	before = mapping - 1;
	behind = mapping + 1;
	if ((mapping->start | mapping->end) & (HUGE_PAGE_BYTES - 1))
		return;
	if (mapping->file != MAPPING_NO_FILE || !mapping_has_file(before) ||
	    behind->file != before->file || before->end != mapping->start ||
	    behind->start != mapping->end ||
	    behind->start - behind->file_offset != before->start - before->file_offset)
		return;
	mapping->file = before->file;
	mapping->file_offset = before->file_offset + (mapping->start - before->start);
}

/* Removes [start, end) and inserts `with` (NULL: nothing). */
static int replace_range(struct mapping_list *list, uint64_t start, uint64_t end,
			 const struct mapping *with)
{
	size_t index, last, count = 0;
	struct mapping pieces[3];

	if (start >= end)
		return -EINVAL;
	index = search(list, start);
	last = index;
	while (last < list->count && list->items[last].start < end)
		last++;
	if (index < last && list->items[index].start < start) {
		pieces[count] = list->items[index];
		pieces[count++].end = start;
	}
	if (with)
		pieces[count++] = *with;
	if (index < last && list->items[last - 1].end > end) {
		struct mapping *rest = &pieces[count++];

		*rest = list->items[last - 1];
		rest->file_offset += end - rest->start;
		rest->start = end;
	}
	return splice(list, index, last - index, pieces, count);
}

int mapping_list_add(struct mapping_list *list, const struct mapping *mapping)
{
	int err = replace_range(list, mapping->start, mapping->end, mapping);
	size_t index;

	if (err)
		return err;
	index = search(list, mapping->start);
	adopt(list, index);
	/* procfs lists the following mapping last. */
	if (index > 0)
		adopt(list, index - 1);
	adopt(list, index + 1);
	return 0;
}

int mapping_list_remove(struct mapping_list *list, uint64_t start, uint64_t end)
{
	return replace_range(list, start, end, NULL);
}

const struct mapping *mapping_list_find(const struct mapping_list *list, uint64_t address)
{
	size_t index = search(list, address);

	return index < list->count && list->items[index].start <= address ? &list->items[index]
									  : NULL;
}

bool mapping_list_equal(const struct mapping_list *a, const struct mapping_list *b)
{
	_Static_assert(sizeof(struct mapping) == 32, "no padding, which memcmp would compare");

	return a->count == b->count &&
	       (!a->count || memcmp(a->items, b->items, a->count * sizeof(*a->items)) == 0);
}
