// SPDX-License-Identifier: BSD-2-Clause
/* Keeps relations between processes. */
#include "profile/account/relation_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "profile/account/account.h"

struct relation_list {
	ARRAY_OF(struct relation) items;
	struct hash_map numbers; /* hash of the key -> 1 + index */
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct relation *relation)
{
	uint64_t hash =
		mix(mix(0, relation->kind), (uint64_t)relation->pid << 32 | relation->other_pid);

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

	/* Of two with one hash the second is found by the next one. */
	for (uint64_t hash = hash_of(relation);; hash = mix(hash, 1)) {
		number = hash_map_get(&list->numbers, hash, list->items.count, &added);
		if (!number)
			return -ENOMEM;
		if (*number >= list->items.count)
			break;
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

/* ---- the account ---- */

static const struct recorded_column columns[] = {
	COLUMN(NUMBER, 1, struct relation, kind),
	COLUMN(PID, 2, struct relation, pid),
	COLUMN(NUMBER, 3, struct relation, other_pid),
	COLUMN(STACK_OR_NONE, 4, struct relation, stack),
	COLUMN(STACK_OR_NONE, 5, struct relation, other_stack),
	COLUMN(TEXT, 6, struct relation, other_comm),
	COLUMN(TEXT, 7, struct relation, text),
	COLUMN(NUMBER, 8, struct relation, count),
	COLUMN(NUMBER, 9, struct relation, value),
};
ALL_MEMBERS(struct relation, 184);

static int64_t add_row(void *account, const void *row)
{
	return relation_list_add(account, row);
}

/* Several relations may be one now. */
static void rekey(void *account)
{
	struct relation_list *list = account;
	size_t kept = 0;

	hash_map_done(&list->numbers);
	list->numbers = (struct hash_map){0};
	array_foreach(&list->items, item) {
		struct relation *same;
		uint64_t *number;
		bool added;

		number = hash_map_get(&list->numbers, hash_of(item), kept, &added);
		same = number && !added ? &list->items.items[*number] : NULL;
		if (same && is_same(same, item)) {
			same->count += item->count;
			same->value += item->value;
			continue;
		}
		list->items.items[kept++] = *item;
	}
	list->items.count = kept;
}

static void done(void *account)
{
	struct relation_list *list = account;

	array_free(&list->items);
	hash_map_done(&list->numbers);
}

/* The list is a sample; it may be full. */
static const struct account_table table = {
	.recorded = RECORDED_TABLE(19, struct relation, columns),
	.rows = ACCOUNT_ROWS(struct relation_list, items),
	.add = add_row,
};

const struct account_ops account_ops_relations = {
	.size = sizeof(struct relation_list),
	.done = done,
	.tables = &table,
	.table_count = 1,
	.rekey = rekey,
};
