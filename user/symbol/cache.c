// SPDX-License-Identifier: BSD-2-Clause
/* Remembers the symbol of every location that was looked up. */
#include "symbol/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"

#define BLOCK_LINES 1024U

struct cached_symbol {
	struct frame_location location;
	struct symbol symbol;
};

/* Lines never move: callers keep pointers to them. */
struct line_block {
	struct line_block *next;
	size_t count, capacity;
	struct symbol_line lines[];
};

struct symbol_cache {
	ARRAY_OF(struct cached_symbol) symbols;
	struct hash_index index;
	struct line_block *blocks;
	uint64_t seed; /* addresses and ids are partly the target's choice */
};

struct symbol_cache *symbol_cache_new(void)
{
	struct symbol_cache *cache = calloc(1, sizeof(*cache));

	if (cache)
		cache->seed = hash_random_seed();
	return cache;
}

void symbol_cache_free(struct symbol_cache *cache)
{
	if (!cache)
		return;
	while (cache->blocks) {
		struct line_block *next = cache->blocks->next;

		free(cache->blocks);
		cache->blocks = next;
	}
	hash_index_done(&cache->index);
	array_free(&cache->symbols);
	free(cache);
}

static uint64_t hash_location(const struct symbol_cache *cache,
			      const struct frame_location *location)
{
	uint64_t object = (uint64_t)location->object << 8 | (uint64_t)location->space << 1 |
			  (location->is_return_address ? 1 : 0);

	return hash_u64(hash_u64(location->address ^ cache->seed) ^ object);
}

static bool is_location(const void *context, uint32_t item, const void *key)
{
	const struct symbol_cache *cache = context;
	const struct frame_location *a = &cache->symbols.items[item].location, *b = key;

	return a->address == b->address && a->object == b->object && a->space == b->space &&
	       a->is_return_address == b->is_return_address;
}

const struct symbol *symbol_cache_find(const struct symbol_cache *cache,
				       const struct frame_location *location)
{
	uint32_t item = hash_index_find(&cache->index, hash_location(cache, location), is_location,
					cache, location);

	return item == HASH_INDEX_NONE ? NULL : &cache->symbols.items[item].symbol;
}

static struct symbol_line *keep_lines(struct symbol_cache *cache, const struct symbol_line *lines,
				      size_t count)
{
	struct line_block *block = cache->blocks;
	struct symbol_line *kept;

	if (!block || block->capacity - block->count < count) {
		size_t capacity = count > BLOCK_LINES ? count : BLOCK_LINES;

		block = malloc(sizeof(*block) + capacity * sizeof(block->lines[0]));
		if (!block)
			return NULL;
		block->next = cache->blocks;
		block->count = 0;
		block->capacity = capacity;
		cache->blocks = block;
	}
	kept = &block->lines[block->count];
	block->count += count;
	memcpy(kept, lines, count * sizeof(*lines));
	return kept;
}

const struct symbol *symbol_cache_add(struct symbol_cache *cache,
				      const struct frame_location *location,
				      const struct symbol *symbol)
{
	struct symbol_line *lines = NULL;
	struct cached_symbol *cached;

	if (symbol->line_count > 0) {
		lines = keep_lines(cache, symbol->lines, symbol->line_count);
		if (!lines)
			return NULL;
	}
	cached = array_add(&cache->symbols);
	if (!cached)
		return NULL;
	cached->location = *location;
	cached->symbol = *symbol;
	cached->symbol.lines = lines;
	if (cache->symbols.count >= HASH_INDEX_NONE ||
	    !hash_index_add(&cache->index, hash_location(cache, location),
			    (uint32_t)(cache->symbols.count - 1))) {
		cache->symbols.count--;
		return NULL;
	}
	return &cached->symbol;
}
