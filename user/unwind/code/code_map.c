// SPDX-License-Identifier: BSD-2-Clause
/* Keeps executable mappings sorted while new ones cut old ones. */
#include "unwind/code/code_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_sink.h"

struct code_map *code_map_new(void)
{
	struct code_map *map = calloc(1, sizeof(*map));

	if (map)
		map->references = 1;
	return map;
}

struct code_map *code_map_share(struct code_map *map)
{
	map->references++;
	return map;
}

bool code_map_drop(struct code_map *map)
{
	return --map->references == 0;
}

void code_map_free(struct code_map *map)
{
	if (!map)
		return;
	free(map->items);
	free(map);
}

struct code_map *code_map_copy(const struct code_map *map)
{
	struct code_map *copy = code_map_new();

	if (!copy || !map->count)
		return copy;
	copy->items = malloc(map->count * sizeof(*copy->items));
	if (!copy->items) {
		code_map_free(copy);
		return NULL;
	}
	memcpy(copy->items, map->items, map->count * sizeof(*copy->items));
	copy->count = copy->capacity = map->count;
	return copy;
}

/* First mapping whose end lies behind address. */
static uint32_t first_behind(const struct code_map *map, uint64_t address)
{
	uint32_t low = 0, high = map->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (map->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct code_mapping *code_map_find(const struct code_map *map, uint64_t address)
{
	uint32_t index = first_behind(map, address);

	return index < map->count && map->items[index].start <= address ? &map->items[index] : NULL;
}

static int reserve(struct code_map *map, uint32_t needed)
{
	struct code_mapping *items;
	uint32_t capacity = map->capacity ? map->capacity : 8;

	if (needed > CODE_MAP_MAX)
		return -ENOSPC;
	if (needed <= map->capacity)
		return 0;
	while (capacity < needed)
		capacity *= 2;
	items = realloc(map->items, capacity * sizeof(*items));
	if (!items)
		return -ENOMEM;
	map->items = items;
	map->capacity = capacity;
	return 0;
}

/* Text that a program has copied and mapped over itself, to have it in huge pages (PHP, Node.js): a
 * mapping without a file that one file's mappings continue on both sides is that file's. Not what
 * is no multiple of a huge page: nobody announces that a library is unmapped, and generated code
 * may lie in its place. */
static void adopt(struct code_map *map, uint32_t index)
{
	struct code_mapping *mapping, *before, *behind;

	if (index == 0 || index + 1 >= map->count)
		return;
	mapping = &map->items[index];
	before = mapping - 1;
	behind = mapping + 1;
	if ((mapping->start | mapping->end) & (MAPPING_HUGE_PAGE_BYTES - 1))
		return;
	if (mapping->file != CODE_NO_FILE || before->file == CODE_NO_FILE ||
	    behind->file != before->file || before->end != mapping->start ||
	    behind->start != mapping->end ||
	    behind->start - behind->file_offset != before->start - before->file_offset)
		return;
	mapping->file = before->file;
	mapping->file_offset = before->file_offset + (mapping->start - before->start);
}

/* Replaces [start, end) by nothing, or by *mapping which spans it. */
static int replace(struct code_map *map, uint64_t start, uint64_t end,
		   const struct code_mapping *mapping)
{
	uint32_t first = first_behind(map, start), last = first, pieces = 0;
	struct code_mapping piece[3];
	int err;

	while (last < map->count && map->items[last].start < end)
		last++;
	if (first < last && map->items[first].start < start) {
		piece[pieces] = map->items[first];
		piece[pieces++].end = start;
	}
	if (mapping)
		piece[pieces++] = *mapping;
	if (first < last && map->items[last - 1].end > end) {
		piece[pieces] = map->items[last - 1];
		piece[pieces].file_offset += end - piece[pieces].start;
		piece[pieces++].start = end;
	}
	err = reserve(map, map->count - (last - first) + pieces);
	if (err)
		return err;
	if (map->items) {
		memmove(&map->items[first + pieces], &map->items[last],
			(map->count - last) * sizeof(*map->items));
		memcpy(&map->items[first], piece, pieces * sizeof(*piece));
	}
	map->count += pieces - (last - first);
	return 0;
}

int code_map_add(struct code_map *map, const struct code_mapping *mapping)
{
	uint32_t index;
	int err;

	if (mapping->start >= mapping->end)
		return -EINVAL;
	err = replace(map, mapping->start, mapping->end, mapping);
	if (err)
		return err;
	index = first_behind(map, mapping->start);
	adopt(map, index);
	/* procfs shows what is behind last. */
	if (index > 0)
		adopt(map, index - 1);
	adopt(map, index + 1);
	return 0;
}

int code_map_remove(struct code_map *map, uint64_t start, uint64_t end)
{
	if (start >= end)
		return -EINVAL;
	return replace(map, start, end, NULL);
}

bool code_map_equal(const struct code_map *a, const struct code_map *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++) {
		if (a->items[i].start != b->items[i].start || a->items[i].end != b->items[i].end ||
		    a->items[i].file_offset != b->items[i].file_offset ||
		    a->items[i].file != b->items[i].file)
			return false;
	}
	return true;
}
