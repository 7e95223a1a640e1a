/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two hash tables, both open addressing with linear probing, growing by doubling, one owner thread:
 *
 * hash_map:   u64 key -> u64 value.
 * hash_index: caller's hash -> u32 item number. The caller compares items, so keys of any shape
 * live in the caller's own array.
 *
 * Hostile keys: hashes are mixed with a per-table random seed. Keys that collide in all 64 bits of
 * the caller's hash cannot be distinguished by it, so a caller with hostile keys hashes them with
 * hash_bytes() and a seed of hash_random_seed().
 */
#ifndef PKBPF_BASE_HASH_MAP_H
#define PKBPF_BASE_HASH_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_map_slot {
	uint64_t key;
	uint64_t value;
	bool used;
};

struct hash_map { /* zero-initialised is an empty map */
	struct hash_map_slot *slots;
	size_t capacity; /* 0 or a power of two */
	size_t count;
	uint64_t seed;
};

/* NULL when absent. The pointer lives until the next put or remove. */
uint64_t *hash_map_find(const struct hash_map *map, uint64_t key);
/* Pointer to the value of key, made with `initial` when absent; NULL: out of memory. */
uint64_t *hash_map_get(struct hash_map *map, uint64_t key, uint64_t initial, bool *ret_added);
bool hash_map_put(struct hash_map *map, uint64_t key, uint64_t value); /* false: out of memory */
bool hash_map_remove(struct hash_map *map, uint64_t key);	       /* false: was absent */
/* Iteration: start with *cursor = 0; NULL at the end. No change of the map meanwhile. */
const struct hash_map_slot *hash_map_next(const struct hash_map *map, size_t *cursor);
void hash_map_done(struct hash_map *map);

struct hash_index_slot {
	uint64_t hash;
	uint32_t item; /* item + 1; 0 = free */
};

struct hash_index { /* zero-initialised is an empty index */
	struct hash_index_slot *slots;
	size_t capacity;
	size_t count;
	uint64_t seed;
};

typedef bool (*hash_index_equal)(const void *context, uint32_t item, const void *key);

#define HASH_INDEX_NONE UINT32_MAX

/* Item whose hash is `hash` and for which equal(context, item, key), or HASH_INDEX_NONE. */
uint32_t hash_index_find(const struct hash_index *index, uint64_t hash, hash_index_equal equal,
			 const void *context, const void *key);
/* Adds an item known to be absent. false: out of memory. */
bool hash_index_add(struct hash_index *index, uint64_t hash, uint32_t item);
void hash_index_done(struct hash_index *index);

/* 64-bit hash of bytes (wyhash-style mixing of our own; not cryptographic). */
uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);
uint64_t hash_u64(uint64_t value);
/* A seed that differs from run to run. */
uint64_t hash_random_seed(void);

#endif
