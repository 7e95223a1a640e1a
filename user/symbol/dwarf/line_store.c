// SPDX-License-Identifier: BSD-2-Clause
/* Keeps each distinct list of lines once. */
#include "symbol/dwarf/line_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"

#define BLOCK_LINES 1024U

/* Lines never move: callers keep pointers to them. */
struct line_block {
	struct line_block *next;
	size_t count, capacity;
	struct symbol_line lines[];
};

struct line_list {
	const struct symbol_line *lines;
	size_t count;
};

struct line_store {
	ARRAY_OF(struct line_list) lists;
	struct hash_index index;
	struct line_block *blocks;
	uint64_t seed; /* what names are found is partly the target's choice */
};

struct line_store *line_store_new(void)
{
	struct line_store *store = calloc(1, sizeof(*store));

	if (store)
		store->seed = hash_random_seed();
	return store;
}

void line_store_free(struct line_store *store)
{
	if (!store)
		return;
	while (store->blocks) {
		struct line_block *next = store->blocks->next;

		free(store->blocks);
		store->blocks = next;
	}
	hash_index_done(&store->index);
	array_free(&store->lists);
	free(store);
}

static uint64_t hash_lines(const struct line_store *store, const struct symbol_line *lines,
			   size_t count)
{
	uint64_t hash = store->seed;

	for (size_t i = 0; i < count; i++) {
		uint64_t words[3] = {
			(uintptr_t)lines[i].function,
			(uintptr_t)lines[i].file,
			(uint64_t)lines[i].line << 1 | lines[i].inlined,
		};

		hash = hash_bytes(words, sizeof(words), hash);
	}
	return hash;
}

static bool same_line(const struct symbol_line *a, const struct symbol_line *b)
{
	return a->function == b->function && a->file == b->file && a->line == b->line &&
	       a->inlined == b->inlined;
}

static bool is_list(const void *context, uint32_t item, const void *key)
{
	const struct line_store *store = context;
	const struct line_list *list = &store->lists.items[item], *wanted = key;

	if (list->count != wanted->count)
		return false;
	for (size_t i = 0; i < list->count; i++)
		if (!same_line(&list->lines[i], &wanted->lines[i]))
			return false;
	return true;
}

static const struct symbol_line *keep_lines(struct line_store *store,
					    const struct symbol_line *lines, size_t count)
{
	struct line_block *block = store->blocks;
	struct symbol_line *kept;

	if (!block || block->capacity - block->count < count) {
		size_t capacity = count > BLOCK_LINES ? count : BLOCK_LINES;

		block = malloc(sizeof(*block) + capacity * sizeof(block->lines[0]));
		if (!block)
			return NULL;
		block->next = store->blocks;
		block->count = 0;
		block->capacity = capacity;
		store->blocks = block;
	}
	kept = &block->lines[block->count];
	block->count += count;
	memcpy(kept, lines, count * sizeof(*lines));
	return kept;
}

const struct symbol_line *line_store_add(struct line_store *store, const struct symbol_line *lines,
					 size_t count)
{
	struct line_list list = {lines, count};
	uint64_t hash = hash_lines(store, lines, count);
	uint32_t item = hash_index_find(&store->index, hash, is_list, store, &list);

	if (item != HASH_INDEX_NONE)
		return store->lists.items[item].lines;
	list.lines = keep_lines(store, lines, count);
	item = (uint32_t)store->lists.count;
	/* Lists that cannot be found again are kept all the same. */
	if (list.lines && item < HASH_INDEX_NONE &&
	    array_reserve(&store->lists, store->lists.count + 1) &&
	    hash_index_add(&store->index, hash, item))
		*array_add(&store->lists) = list;
	return list.lines;
}
