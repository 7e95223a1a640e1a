// SPDX-License-Identifier: BSD-2-Clause
/* Keeps relations between processes. */
#include "profile/account/relation_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"

struct relation_list {
	ARRAY_OF(struct relation) items;
	struct hash_map numbers; /* hash of the key -> 1 + index */
};

struct relation_list *relation_list_new(void)
{
	return calloc(1, sizeof(struct relation_list));
}

void relation_list_free(struct relation_list *list)
{
	if (!list)
		return;
	array_free(&list->items);
	hash_map_done(&list->numbers);
	free(list);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct relation *relation)
{
	uint64_t hash = mix(relation->kind, (uint64_t)relation->pid << 32 | relation->other_pid);

	hash = mix(hash, (uint64_t)relation->stack << 32 | relation->other_stack);
	for (const char *c = relation->text; *c; c++)
		hash = mix(hash, (unsigned char)*c);
	return hash;
}

static bool is_same(const struct relation *a, const struct relation *b)
{
	return a->kind == b->kind && a->pid == b->pid && a->other_pid == b->other_pid &&
	       a->stack == b->stack && a->other_stack == b->other_stack &&
	       !strcmp(a->text, b->text);
}

int relation_list_add(struct relation_list *list, const struct relation *relation)
{
	struct relation *item;
	uint64_t *number;
	bool added;

	number = hash_map_get(&list->numbers, hash_of(relation), list->items.count, &added);
	if (!number)
		return -ENOMEM;
	if (!added && *number < list->items.count) {
		item = &list->items.items[*number];
		if (is_same(item, relation)) {
			item->count += relation->count;
			item->value += relation->value;
			return 0;
		}
	}
	if (list->items.count == RELATION_MAX)
		return -ENOSPC;
	item = array_add(&list->items);
	if (!item)
		return -ENOMEM;
	*item = *relation;
	return 0;
}

const struct relation *relation_list_at(const struct relation_list *list, size_t index)
{
	return &list->items.items[index];
}

size_t relation_list_count(const struct relation_list *list)
{
	return list->items.count;
}

static uint32_t renumbered(uint32_t stack, const uint32_t *numbers, size_t count)
{
	return stack < count ? numbers[stack] : stack;
}

void relation_list_renumber(struct relation_list *list, const uint32_t *numbers, size_t count)
{
	size_t kept = 0;

	/* Keys have changed, and several relations may be one now. */
	hash_map_done(&list->numbers);
	list->numbers = (struct hash_map){0};
	array_foreach(&list->items, item) {
		struct relation relation = *item, *same;
		uint64_t *number;
		bool added;

		relation.stack = renumbered(item->stack, numbers, count);
		relation.other_stack = renumbered(item->other_stack, numbers, count);
		number = hash_map_get(&list->numbers, hash_of(&relation), kept, &added);
		same = number && !added ? &list->items.items[*number] : NULL;
		if (same && is_same(same, &relation)) {
			same->count += relation.count;
			same->value += relation.value;
			continue;
		}
		list->items.items[kept++] = relation;
	}
	list->items.count = kept;
}
