// SPDX-License-Identifier: BSD-2-Clause
/* Stores each distinct stack once, in one array of ids. */
#include "profile/stack_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"

struct stack_span {
	size_t first;
	size_t count;
};

struct stack_table {
	ARRAY_OF(uint32_t) items;
	ARRAY_OF(struct stack_span) spans;
	struct hash_index index;
	uint64_t seed;
};

struct stack_key {
	const uint32_t *items;
	size_t count;
};

struct stack_table *stack_table_new(void)
{
	struct stack_table *table = calloc(1, sizeof(*table));

	if (table)
		table->seed = hash_random_seed();
	return table;
}

void stack_table_free(struct stack_table *table)
{
	if (!table)
		return;
	array_free(&table->items);
	array_free(&table->spans);
	hash_index_done(&table->index);
	free(table);
}

static bool stack_equal(const void *context, uint32_t item, const void *key)
{
	const struct stack_table *table = context;
	const struct stack_key *wanted = key;
	const struct stack_span *span = &table->spans.items[item];

	return span->count == wanted->count &&
	       (!span->count || !memcmp(&table->items.items[span->first], wanted->items,
					span->count * sizeof(*wanted->items)));
}

uint32_t stack_table_add(struct stack_table *table, const uint32_t *items, size_t count)
{
	struct stack_key key = {.items = items, .count = count};
	uint64_t hash = hash_bytes(items, count * sizeof(*items), table->seed);
	struct stack_span *span;
	uint32_t id;

	id = hash_index_find(&table->index, hash, stack_equal, table, &key);
	if (id != HASH_INDEX_NONE)
		return id;
	if (table->spans.count >= STACK_TABLE_NONE - 1)
		return STACK_TABLE_NONE;
	if (!array_reserve(&table->items, table->items.count + count) ||
	    !array_reserve(&table->spans, table->spans.count + 1))
		return STACK_TABLE_NONE;
	id = (uint32_t)table->spans.count;
	if (!hash_index_add(&table->index, hash, id))
		return STACK_TABLE_NONE;
	span = array_add(&table->spans);
	span->first = table->items.count;
	span->count = count;
	if (count)
		memcpy(&table->items.items[span->first], items, count * sizeof(*items));
	table->items.count += count;
	return id;
}

const uint32_t *stack_table_get(const struct stack_table *table, uint32_t id, size_t *ret_count)
{
	const struct stack_span *span;

	if (id >= table->spans.count) {
		*ret_count = 0;
		return NULL;
	}
	span = &table->spans.items[id];
	*ret_count = span->count;
	return span->count ? &table->items.items[span->first] : NULL;
}

size_t stack_table_count(const struct stack_table *table)
{
	return table->spans.count;
}

size_t stack_table_item_bytes(size_t count)
{
	/* The index is at worst half empty. */
	return count * sizeof(uint32_t) + sizeof(struct stack_span) +
	       2 * sizeof(struct hash_index_slot);
}

size_t stack_table_bytes(const struct stack_table *table)
{
	return table->items.count * sizeof(*table->items.items) +
	       table->spans.count * stack_table_item_bytes(0);
}
