// SPDX-License-Identifier: BSD-2-Clause
/* Keeps each distinct string once, in large chunks, and finds it by its bytes. */
#include "base/string_pool.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"

#define CHUNK_SIZE (64 * 1024 - 64)

struct chunk {
	struct chunk *next;
	size_t used;
	size_t size;
	char bytes[];
};

struct entry {
	const char *string;
	size_t length;
};

struct string_pool {
	struct chunk *chunks; /* the first one is being filled */
	ARRAY_OF(struct entry) entries;
	struct hash_index index;
	uint64_t seed;
};

struct string_pool *string_pool_new(void)
{
	struct string_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->seed = hash_random_seed();
	if (string_pool_add_n(pool, "", 0) != 0) {
		string_pool_free(pool);
		return NULL;
	}
	return pool;
}

void string_pool_free(struct string_pool *pool)
{
	if (!pool)
		return;
	while (pool->chunks) {
		struct chunk *next = pool->chunks->next;

		free(pool->chunks);
		pool->chunks = next;
	}
	array_free(&pool->entries);
	hash_index_done(&pool->index);
	free(pool);
}

static bool entry_equal(const void *context, uint32_t item, const void *key)
{
	const struct string_pool *pool = context;
	const struct entry *entry = &pool->entries.items[item], *wanted = key;

	return entry->length == wanted->length &&
	       memcmp(entry->string, wanted->string, wanted->length) == 0;
}

/* Takes size bytes that never move; NULL: out of memory. */
static char *chunk_take(struct string_pool *pool, size_t size)
{
	struct chunk *first = pool->chunks, *chunk;
	bool large = size > CHUNK_SIZE / 4;
	size_t chunk_size = large ? size : CHUNK_SIZE;
	char *bytes;

	if (first && first->size - first->used >= size) {
		bytes = first->bytes + first->used;
		first->used += size;
		return bytes;
	}
	if (size > PTRDIFF_MAX - sizeof(*chunk))
		return NULL;
	chunk = malloc(sizeof(*chunk) + chunk_size);
	if (!chunk)
		return NULL;
	chunk->used = size;
	chunk->size = chunk_size;
	if (large && first) { /* behind the first, whose room is still good for small strings */
		chunk->next = first->next;
		first->next = chunk;
	} else {
		chunk->next = first;
		pool->chunks = chunk;
	}
	return chunk->bytes;
}

uint32_t string_pool_add_n(struct string_pool *pool, const char *string, size_t length)
{
	struct entry wanted = {.string = string, .length = strnlen(string, length)}, *entry;
	uint64_t hash = hash_bytes(wanted.string, wanted.length, pool->seed);
	uint32_t id = hash_index_find(&pool->index, hash, entry_equal, pool, &wanted);
	char *copy;

	if (id != HASH_INDEX_NONE)
		return id;
	if (pool->entries.count >= STRING_POOL_NONE)
		return STRING_POOL_NONE;

	/* What can fail comes first, the index last: an id in it always has its entry. */
	if (!array_reserve(&pool->entries, pool->entries.count + 1))
		return STRING_POOL_NONE;
	copy = chunk_take(pool, wanted.length + 1);
	if (!copy || !hash_index_add(&pool->index, hash, (uint32_t)pool->entries.count))
		return STRING_POOL_NONE;

	memcpy(copy, wanted.string, wanted.length);
	copy[wanted.length] = '\0';
	entry = array_add(&pool->entries);
	entry->string = copy;
	entry->length = wanted.length;
	return (uint32_t)(pool->entries.count - 1);
}

uint32_t string_pool_add(struct string_pool *pool, const char *string)
{
	return string_pool_add_n(pool, string, strlen(string));
}

uint32_t string_pool_find(const struct string_pool *pool, const char *string)
{
	struct entry wanted = {.string = string, .length = strlen(string)};
	uint32_t id = hash_index_find(&pool->index, hash_bytes(string, wanted.length, pool->seed),
				      entry_equal, pool, &wanted);

	return id == HASH_INDEX_NONE ? STRING_POOL_NONE : id;
}

const char *string_pool_get(const struct string_pool *pool, uint32_t id)
{
	return id < pool->entries.count ? pool->entries.items[id].string : "";
}

size_t string_pool_count(const struct string_pool *pool)
{
	return pool->entries.count;
}
