// SPDX-License-Identifier: BSD-2-Clause
/* Sorted mappings without overlap, shared between copies until one of them changes. */
#include "process/address_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_sink.h"

#define MIN_CAPACITY 8

/*
 * The mappings are items[first..first + count). Room is kept at both ends: the kernel places new
 * mappings below the older ones while procfs lists them upwards, and neither direction may move
 * everything for each mapping.
 */
struct mapping_list {
	size_t users; /* address spaces that share this list */
	struct mapping_budget *budget;
	size_t first, count, capacity;
	struct mapping *items;
};

struct address_space {
	struct mapping_list *list;
};

static void charge(struct mapping_budget *budget, size_t added, size_t removed)
{
	if (budget)
		budget->used = budget->used + added - removed;
}

static struct mapping_list *list_new(struct mapping_budget *budget)
{
	struct mapping_list *list = calloc(1, sizeof(*list));

	if (!list)
		return NULL;
	list->users = 1;
	list->budget = budget;
	return list;
}

static void list_release(struct mapping_list *list)
{
	if (--list->users)
		return;
	charge(list->budget, 0, list->count);
	free(list->items);
	free(list);
}

struct address_space *address_space_new_within(struct mapping_budget *budget)
{
	struct address_space *space = malloc(sizeof(*space));

	if (!space)
		return NULL;
	space->list = list_new(budget);
	if (!space->list) {
		free(space);
		return NULL;
	}
	return space;
}

struct address_space *address_space_new(void)
{
	return address_space_new_within(NULL);
}

struct address_space *address_space_copy(const struct address_space *from)
{
	struct address_space *space = malloc(sizeof(*space));

	if (!space)
		return NULL;
	space->list = from->list;
	space->list->users++;
	return space;
}

void address_space_free(struct address_space *space)
{
	if (!space)
		return;
	list_release(space->list);
	free(space);
}

/* Moves the list to memory with room for `extra` more mappings, half of the room at each end. */
static int list_grow(struct mapping_list *list, size_t extra)
{
	size_t capacity = (list->count + extra) * 2;
	struct mapping *items;
	size_t first;

	if (capacity < MIN_CAPACITY)
		capacity = MIN_CAPACITY;
	items = malloc(capacity * sizeof(*items));
	if (!items)
		return -ENOMEM;
	first = (capacity - list->count) / 2;
	if (list->count)
		memcpy(items + first, list->items + list->first, list->count * sizeof(*items));
	free(list->items);
	list->items = items;
	list->first = first;
	list->capacity = capacity;
	return 0;
}

/* Gives space a list of its own. */
static int make_writable(struct address_space *space)
{
	struct mapping_list *list = space->list;
	struct mapping_list *own;
	int err;

	if (list->users == 1)
		return 0;
	if (list->budget && list->budget->used + list->count > list->budget->limit)
		return -ENOSPC;
	own = list_new(list->budget);
	if (!own)
		return -ENOMEM;
	/* The copied mappings and the two that one change can add, with room at both ends. */
	err = list_grow(own, list->count + 2);
	if (err) {
		free(own);
		return err;
	}
	own->first = (own->capacity - list->count) / 2;
	own->count = list->count;
	if (list->count)
		memcpy(own->items + own->first, list->items + list->first,
		       list->count * sizeof(*own->items));
	charge(own->budget, own->count, 0);
	list_release(list);
	space->list = own;
	return 0;
}

static struct mapping *list_mappings(const struct mapping_list *list)
{
	return list->items ? list->items + list->first : NULL;
}

/* Index (from the list's first) of the first mapping that ends above address. */
static size_t list_search(const struct mapping_list *list, uint64_t address)
{
	const struct mapping *mappings = list_mappings(list);
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (mappings[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Replaces `removed` mappings at `index` by `added` ones; moves the shorter side. */
static int list_splice(struct mapping_list *list, size_t index, size_t removed,
		       const struct mapping *with, size_t added)
{
	size_t after = list->count - index - removed;
	struct mapping *mappings;
	int err;

	if (!added && !removed)
		return 0;
	if (added > removed) {
		size_t extra = added - removed;
		bool room_front = list->first >= extra;
		bool room_back = list->capacity - list->first - list->count >= extra;

		if (list->count + extra > ADDRESS_SPACE_MAX_MAPPINGS ||
		    (list->budget && list->budget->used + extra > list->budget->limit))
			return -ENOSPC;
		if (index < after ? !room_front : !room_back) {
			err = list_grow(list, extra);
			if (err)
				return err;
		}
	}
	mappings = list_mappings(list);
	if (added == removed) {
		/* nothing moves */
	} else if (index < after) {
		/* Everything before index moves by removed - added; list->first with it. */
		memmove(list->items + list->first + removed - added, mappings,
			index * sizeof(*mappings));
		list->first = list->first + removed - added;
	} else if (after) {
		memmove(mappings + index + added, mappings + index + removed,
			after * sizeof(*mappings));
	}
	if (added)
		memcpy(list->items + list->first + index, with, added * sizeof(*with));
	list->count = list->count + added - removed;
	charge(list->budget, added, removed);
	return 0;
}

/* Text that a program has copied and mapped over itself, to have it in huge pages (PHP, Node.js):
 * executable memory without a file that one file's mappings continue on both sides is that file's.
 * Not what is no multiple of a huge page: nobody announces that a library is unmapped, and
 * generated code may lie in its place.
 */
static void adopt(struct mapping_list *list, size_t index)
{
	struct mapping *mapping, *before, *behind;

	if (index == 0 || index + 1 >= list->count)
		return;
	mapping = list_mappings(list) + index;
	before = mapping - 1;
	behind = mapping + 1;
	if ((mapping->start | mapping->end) & (MAPPING_HUGE_PAGE_BYTES - 1))
		return;
	if (mapping->file || !before->file || behind->file != before->file ||
	    before->end != mapping->start || behind->start != mapping->end ||
	    behind->start - behind->file_offset != before->start - before->file_offset)
		return;
	mapping->file = before->file;
	mapping->file_offset = before->file_offset + (mapping->start - before->start);
}

/* Cuts [start, end) out and puts `with` (NULL: nothing) in its place. */
static int replace_range(struct address_space *space, uint64_t start, uint64_t end,
			 const struct mapping *with)
{
	struct mapping pieces[3];
	size_t index, last, count = 0;
	const struct mapping *mappings;
	int err;

	if (start >= end)
		return -EINVAL;
	err = make_writable(space);
	if (err)
		return err;
	mappings = list_mappings(space->list);
	index = list_search(space->list, start);
	last = index;
	while (last < space->list->count && mappings[last].start < end)
		last++;
	if (index < last && mappings[index].start < start) {
		pieces[count] = mappings[index];
		pieces[count++].end = start;
	}
	if (with)
		pieces[count++] = *with;
	if (index < last && mappings[last - 1].end > end) {
		struct mapping *rest = &pieces[count++];

		*rest = mappings[last - 1];
		rest->file_offset += end - rest->start;
		rest->start = end;
	}
	return list_splice(space->list, index, last - index, pieces, count);
}

int address_space_add(struct address_space *space, const struct mapping *mapping)
{
	int err = replace_range(space, mapping->start, mapping->end, mapping);
	size_t index;

	if (err)
		return err;
	index = list_search(space->list, mapping->start);
	adopt(space->list, index);
	/* procfs shows what is behind last. */
	if (index > 0)
		adopt(space->list, index - 1);
	adopt(space->list, index + 1);
	return 0;
}

int address_space_remove(struct address_space *space, uint64_t start, uint64_t end)
{
	return replace_range(space, start, end, NULL);
}

const struct mapping *address_space_find(const struct address_space *space, uint64_t address)
{
	const struct mapping_list *list = space->list;
	size_t index = list_search(list, address);
	const struct mapping *mapping;

	if (index == list->count)
		return NULL;
	mapping = &list->items[list->first + index];
	return mapping->start <= address ? mapping : NULL;
}

const struct mapping *address_space_mappings(const struct address_space *space, size_t *ret_count)
{
	const struct mapping_list *list = space->list;

	*ret_count = list->count;
	return list_mappings(list);
}
