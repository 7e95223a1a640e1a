// SPDX-License-Identifier: BSD-2-Clause
/* Open-addressing hash tables with linear probing for keys that a target may choose. */
#include "base/hash_map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

#include "base/clock.h"

#define HASH_MIN_CAPACITY 16

/* Odd constants with about half of their bits set: digits of the square roots of 2, 3, 5, 7. */
#define MIX_A 0x6a09e667f3bcc909ULL
#define MIX_B 0xbb67ae8584caa73bULL
#define MIX_C 0x3c6ef372fe94f82bULL
#define MIX_D 0xa54ff53a5f1d36f1ULL

__extension__ typedef unsigned __int128 u128;

/* Both halves of the product folded together, so that every bit of both factors reaches every
 * result bit. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
	u128 product = (u128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load64(const unsigned char *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* The last 0..8 bytes as one number. */
static inline uint64_t load_tail(const unsigned char *bytes, size_t size)
{
	uint64_t value = 0;

	if (size)
		memcpy(&value, bytes, size);
	return value;
}

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed)
{
	const unsigned char *bytes = data;
	uint64_t state = mix(seed ^ MIX_A, MIX_B);
	size_t left = size;

	for (; left > 16; bytes += 16, left -= 16)
		state = mix(load64(bytes) ^ MIX_C ^ seed, load64(bytes + 8) ^ state);
	if (left > 8) {
		uint64_t low = load64(bytes);

		state = mix(low ^ MIX_D ^ seed, load_tail(bytes + 8, left - 8) ^ state);
	} else {
		state = mix(load_tail(bytes, left) ^ MIX_D ^ seed, state ^ MIX_C);
	}
	/* The size tells "a" from "a\0", whose padded tails are alike. */
	return mix(state ^ MIX_A, (uint64_t)size ^ MIX_B ^ seed);
}

uint64_t hash_u64(uint64_t value)
{
	/* Each step is a bijection, so distinct values never collide in all 64 bits. */
	value ^= value >> 32;
	value *= MIX_A;
	value ^= value >> 29;
	value *= MIX_B;
	value ^= value >> 32;
	return value;
}

uint64_t hash_random_seed(void)
{
	uint64_t seed, fallback[2];
	const void *from_kernel;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed))
		return seed;
	/* Early in boot the pool may not be ready, and a sandbox may refuse the call: the 16 random
	 * bytes that the kernel gave this process at exec, and the time, have to do. */
	seed = hash_u64(clock_now_ns());
	from_kernel = (const void *)getauxval(AT_RANDOM);
	if (from_kernel) {
		memcpy(fallback, from_kernel, sizeof(fallback));
		seed ^= hash_bytes(fallback, sizeof(fallback), seed);
	}
	return seed;
}

/* At most three quarters full: probes stay short and a search always meets a free slot. */
static bool must_grow(size_t count, size_t capacity)
{
	return count >= capacity - capacity / 4;
}

/* 0: does not fit in size_t. */
static size_t grown_capacity(size_t capacity, size_t slot_size)
{
	if (capacity == 0)
		return HASH_MIN_CAPACITY;
	if (capacity > (SIZE_MAX / 4) / slot_size)
		return 0;
	return capacity * 2;
}

/* ---- hash_map ----
 *
 * Every table has a seed of its own: besides the keys of an attacker it spreads those that come in
 * the slot order of another table, which would otherwise line up. */

static size_t map_home(const struct hash_map *map, uint64_t key)
{
	return hash_u64(mix(key ^ map->seed, MIX_C) + map->seed) & (map->capacity - 1);
}

/* Slot that holds key, or the free one where it belongs. Needs capacity > 0. */
static size_t map_probe(const struct hash_map *map, uint64_t key)
{
	size_t at = map_home(map, key);

	while (map->slots[at].used && map->slots[at].key != key)
		at = (at + 1) & (map->capacity - 1);
	return at;
}

static bool map_grow(struct hash_map *map)
{
	struct hash_map grown = {.count = map->count};

	grown.capacity = grown_capacity(map->capacity, sizeof(*map->slots));
	if (!grown.capacity)
		return false;
	grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	grown.seed = map->capacity ? map->seed : hash_random_seed();
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->slots[i].used)
			grown.slots[map_probe(&grown, map->slots[i].key)] = map->slots[i];
	}
	free(map->slots);
	*map = grown;
	return true;
}

uint64_t *hash_map_find(const struct hash_map *map, uint64_t key)
{
	size_t at;

	if (!map->capacity)
		return NULL;
	at = map_probe(map, key);
	return map->slots[at].used ? &map->slots[at].value : NULL;
}

uint64_t *hash_map_get(struct hash_map *map, uint64_t key, uint64_t initial, bool *ret_added)
{
	uint64_t *found = hash_map_find(map, key);
	struct hash_map_slot *slot;

	if (found) {
		if (ret_added)
			*ret_added = false;
		return found;
	}
	if (must_grow(map->count, map->capacity) && !map_grow(map))
		return NULL;
	slot = &map->slots[map_probe(map, key)];
	*slot = (struct hash_map_slot){.key = key, .value = initial, .used = true};
	map->count++;
	if (ret_added)
		*ret_added = true;
	return &slot->value;
}

bool hash_map_put(struct hash_map *map, uint64_t key, uint64_t value)
{
	uint64_t *slot = hash_map_get(map, key, value, NULL);

	if (!slot)
		return false;
	*slot = value;
	return true;
}

bool hash_map_remove(struct hash_map *map, uint64_t key)
{
	size_t mask = map->capacity - 1, hole, at;

	if (!map->capacity)
		return false;
	hole = map_probe(map, key);
	if (!map->slots[hole].used)
		return false;
	/* Moves back each follower whose way from home leads over the hole: no tombstones, so a
	 * table with much coming and going stays as fast as a fresh one. */
	for (at = (hole + 1) & mask; map->slots[at].used; at = (at + 1) & mask) {
		size_t home = map_home(map, map->slots[at].key);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			map->slots[hole] = map->slots[at];
			hole = at;
		}
	}
	map->slots[hole] = (struct hash_map_slot){0};
	map->count--;
	return true;
}

const struct hash_map_slot *hash_map_next(const struct hash_map *map, size_t *cursor)
{
	while (*cursor < map->capacity) {
		const struct hash_map_slot *slot = &map->slots[(*cursor)++];

		if (slot->used)
			return slot;
	}
	return NULL;
}

void hash_map_done(struct hash_map *map)
{
	free(map->slots);
	*map = (struct hash_map){0};
}

/* ---- hash_index ---- */

static size_t index_home(const struct hash_index *index, uint64_t hash)
{
	return hash_u64(mix(hash ^ index->seed, MIX_C) + index->seed) & (index->capacity - 1);
}

/* Puts the slot into a table that has room. */
static void index_place(struct hash_index *index, struct hash_index_slot slot)
{
	size_t at = index_home(index, slot.hash);

	while (index->slots[at].item)
		at = (at + 1) & (index->capacity - 1);
	index->slots[at] = slot;
}

static bool index_grow(struct hash_index *index)
{
	struct hash_index grown = {.count = index->count};

	grown.capacity = grown_capacity(index->capacity, sizeof(*index->slots));
	if (!grown.capacity)
		return false;
	grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	grown.seed = index->capacity ? index->seed : hash_random_seed();
	for (size_t i = 0; i < index->capacity; i++) {
		if (index->slots[i].item)
			index_place(&grown, index->slots[i]);
	}
	free(index->slots);
	*index = grown;
	return true;
}

uint32_t hash_index_find(const struct hash_index *index, uint64_t hash, hash_index_equal equal,
			 const void *context, const void *key)
{
	if (!index->capacity)
		return HASH_INDEX_NONE;
	for (size_t at = index_home(index, hash); index->slots[at].item;
	     at = (at + 1) & (index->capacity - 1)) {
		const struct hash_index_slot *slot = &index->slots[at];

		if (slot->hash == hash && equal(context, slot->item - 1, key))
			return slot->item - 1;
	}
	return HASH_INDEX_NONE;
}

bool hash_index_add(struct hash_index *index, uint64_t hash, uint32_t item)
{
	if (item == HASH_INDEX_NONE)
		return false;
	if (must_grow(index->count, index->capacity) && !index_grow(index))
		return false;
	index_place(index, (struct hash_index_slot){.hash = hash, .item = item + 1});
	index->count++;
	return true;
}

void hash_index_done(struct hash_index *index)
{
	free(index->slots);
	*index = (struct hash_index){0};
}
