// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/hash_map: agreement with a plain table, keys chosen to collide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"

#define MANY 100000

/* Small deterministic generator (xorshift64), so that a failure repeats. */
static uint64_t random_next(uint64_t *generator)
{
	*generator ^= *generator << 13;
	*generator ^= *generator >> 7;
	*generator ^= *generator << 17;
	return *generator;
}

static void finds_nothing_in_empty_map(void **state)
{
	struct hash_map map = {0};
	size_t cursor = 0;

	assert_null(hash_map_find(&map, 0));
	assert_false(hash_map_remove(&map, 0));
	assert_null(hash_map_next(&map, &cursor));
	hash_map_done(&map);
}

static void tells_added_from_found(void **state)
{
	struct hash_map map = {0};
	bool added = false;
	uint64_t *value = hash_map_get(&map, 0, 5, &added);

	assert_true(added);
	assert_int_equal(*value, 5);
	*value = 6;
	value = hash_map_get(&map, 0, 5, &added);
	assert_false(added);
	assert_int_equal(*value, 6);
	assert_true(hash_map_put(&map, 0, 7));
	assert_int_equal(*hash_map_find(&map, 0), 7);
	assert_int_equal(map.count, 1);
	hash_map_done(&map);
}

static void agrees_with_plain_table_under_random_changes(void **state)
{
	static struct {
		bool used;
		uint64_t value;
	} plain[512];
	struct hash_map map = {0};
	uint64_t generator = 88172645463325252ULL;
	size_t count = 0;

	memset(plain, 0, sizeof(plain));
	for (int step = 0; step < 300000; step++) {
		uint64_t random = random_next(&generator);
		size_t number = random % 512;
		uint64_t key = number << 40; /* as alike as keys can be */

		if (random >> 62 == 0) {
			assert_int_equal(hash_map_remove(&map, key), plain[number].used);
			count -= plain[number].used;
			plain[number].used = false;
		} else if (random >> 62 == 1) {
			assert_true(hash_map_put(&map, key, random));
			count += !plain[number].used;
			plain[number].used = true;
			plain[number].value = random;
		} else {
			uint64_t *value = hash_map_find(&map, key);

			assert_int_equal(value != NULL, plain[number].used);
			if (value)
				assert_int_equal(*value, plain[number].value);
		}
		assert_int_equal(map.count, count);
	}
	for (size_t i = 0; i < 512; i++)
		assert_int_equal(hash_map_find(&map, i << 40) != NULL, plain[i].used);
	hash_map_done(&map);
}

static void iterates_over_each_key_once(void **state)
{
	struct hash_map map = {0};
	static unsigned char seen[1000];
	const struct hash_map_slot *slot;
	size_t cursor = 0, count = 0;

	memset(seen, 0, sizeof(seen));
	for (uint64_t key = 0; key < 1000; key++)
		assert_true(hash_map_put(&map, key, key * 3));
	while ((slot = hash_map_next(&map, &cursor))) {
		assert_true(slot->key < 1000);
		assert_int_equal(slot->value, slot->key * 3);
		assert_int_equal(seen[slot->key]++, 0);
		count++;
	}
	assert_int_equal(count, 1000);
	hash_map_done(&map);
}

static uint64_t key_sequential(uint64_t i)
{
	return i;
}

static uint64_t key_page(uint64_t i)
{
	return 0x7f0000000000ULL + i * 4096;
}

static uint64_t key_high_bits(uint64_t i)
{
	return i << 44;
}

static uint64_t key_high_and_low_cancel(uint64_t i)
{
	return i << 32 | i;
}

static uint64_t key_pid_tid(uint64_t i)
{
	return i << 32 | (i + 1);
}

static uint64_t key_power_multiples(uint64_t i)
{
	return i * 0x100000001ULL << 8;
}

/* hash_u64 is public: an attacker can build keys that it maps to neighbours. These are found by
 * search. */
static uint64_t key_same_low_hash_bits(uint64_t i)
{
	static uint64_t next;

	if (i == 0)
		next = 0;
	while (hash_u64(next) & 0xff)
		next++;
	return next++;
}

static const struct {
	const char *name;
	uint64_t (*key)(uint64_t i);
	size_t count;
} families[] = {
	{"sequential", key_sequential, MANY},
	{"page addresses", key_page, MANY},
	{"high bits only", key_high_bits, MANY},
	{"equal halves", key_high_and_low_cancel, MANY},
	{"pid and tid", key_pid_tid, MANY},
	{"shifted multiples", key_power_multiples, MANY},
	{"crafted against the unseeded hash", key_same_low_hash_bits, 8000},
};

/* In random linear probing at 3/4 load the longest run of used slots for 10^5 keys is a few
 * hundred; a hash that lines the keys up makes it as long as the table. */
#define LONGEST_RUN_MAX 2500

static void hostile_keys_stay_spread_in_map(void **state)
{
	for (size_t family = 0; family < ARRAY_SIZE(families); family++) {
		struct hash_map map = {0};
		size_t longest = 0, run = 0;

		for (uint64_t i = 0; i < families[family].count; i++)
			assert_true(hash_map_put(&map, families[family].key(i), i));
		assert_int_equal(map.count, families[family].count);
		assert_true(map.count <= map.capacity - map.capacity / 4);
		for (size_t i = 0; i < map.capacity; i++) {
			run = map.slots[i].used ? run + 1 : 0;
			longest = run > longest ? run : longest;
		}
		if (longest > LONGEST_RUN_MAX)
			fail_msg("%s: run of %zu slots", families[family].name, longest);
		for (uint64_t i = 0; i < families[family].count; i++)
			assert_int_equal(*hash_map_find(&map, families[family].key(i)), i);
		hash_map_done(&map);
	}
}

static void two_maps_order_keys_differently(void **state)
{
	struct hash_map first = {0}, second = {0};
	size_t cursor_1 = 0, cursor_2 = 0, differ = 0;

	for (uint64_t key = 0; key < 100; key++) {
		hash_map_put(&first, key, 0);
		hash_map_put(&second, key, 0);
	}
	for (int i = 0; i < 100; i++)
		differ += hash_map_next(&first, &cursor_1)->key !=
			  hash_map_next(&second, &cursor_2)->key;
	assert_true(differ > 50);
	hash_map_done(&first);
	hash_map_done(&second);
}

static bool number_equal(const void *context, uint32_t item, const void *key)
{
	const uint64_t *numbers = context;

	return numbers[item] == *(const uint64_t *)key;
}

static void index_finds_items_by_content(void **state)
{
	static uint64_t numbers[MANY];

	for (size_t family = 0; family < ARRAY_SIZE(families); family++) {
		struct hash_index index = {0};
		size_t longest = 0, run = 0;
		uint32_t count = (uint32_t)families[family].count;
		uint64_t absent = 0x1234567812345678ULL;

		for (uint32_t i = 0; i < count; i++) {
			numbers[i] = families[family].key(i);
			/* The weakest hash a caller can have is none at all. */
			assert_true(hash_index_add(&index, numbers[i], i));
		}
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(hash_index_find(&index, numbers[i], number_equal, numbers,
							 &numbers[i]),
					 i);
		assert_int_equal(hash_index_find(&index, absent, number_equal, numbers, &absent),
				 HASH_INDEX_NONE);
		for (size_t i = 0; i < index.capacity; i++) {
			run = index.slots[i].item ? run + 1 : 0;
			longest = run > longest ? run : longest;
		}
		if (longest > LONGEST_RUN_MAX)
			fail_msg("%s: run of %zu slots", families[family].name, longest);
		hash_index_done(&index);
	}
}

static void index_tells_items_with_one_hash_apart(void **state)
{
	struct hash_index index = {0};
	uint64_t numbers[500];

	for (uint32_t i = 0; i < 500; i++) {
		numbers[i] = i * 7;
		assert_int_equal(hash_index_find(&index, 99, number_equal, numbers, &numbers[i]),
				 HASH_INDEX_NONE);
		assert_true(hash_index_add(&index, 99, i));
	}
	for (uint32_t i = 0; i < 500; i++)
		assert_int_equal(hash_index_find(&index, 99, number_equal, numbers, &numbers[i]),
				 i);
	hash_index_done(&index);
}

static void index_refuses_the_reserved_number(void **state)
{
	struct hash_index index = {0};

	assert_false(hash_index_add(&index, 1, HASH_INDEX_NONE));
	assert_true(hash_index_add(&index, 1, HASH_INDEX_NONE - 1));
	assert_int_equal(index.count, 1);
	hash_index_done(&index);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void hash_of_bytes_depends_on_every_bit_size_and_seed(void **state)
{
	static uint64_t hashes[66 * 65 * 8];
	unsigned char bytes[66] = {0};
	size_t count = 0;

	for (size_t size = 0; size <= 64; size++) {
		hashes[count++] = hash_bytes(bytes, size, 1);
		hashes[count++] = hash_bytes(bytes, size, 2);
		for (size_t bit = 0; bit < size * 8; bit++) {
			bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
			hashes[count++] = hash_bytes(bytes, size, 1);
			bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		}
	}
	assert_true(count <= ARRAY_SIZE(hashes));
	qsort(hashes, count, sizeof(hashes[0]), compare_u64);
	for (size_t i = 1; i < count; i++)
		assert_true(hashes[i] != hashes[i - 1]);
}

static void hash_of_bytes_does_not_depend_on_alignment(void **state)
{
	char place[80];

	for (size_t size = 0; size <= 40; size++) {
		uint64_t expected = 0;

		for (size_t at = 0; at < 16; at++) {
			memset(place, (int)at, sizeof(place));
			memset(place + at, 'q', size);
			if (at == 0)
				expected = hash_bytes(place, size, 3);
			assert_int_equal(hash_bytes(place + at, size, 3), expected);
		}
	}
}

static void hash_u64_changes_half_of_the_bits(void **state)
{
	for (int bit = 0; bit < 64; bit++) {
		unsigned int changed = 0;

		for (uint64_t value = 1; value <= 256; value++)
			changed += (unsigned int)__builtin_popcountll(
				hash_u64(value) ^ hash_u64(value ^ (1ULL << bit)));
		/* 32 of 64 on average; 256 trials. */
		if (changed < 256 * 24 || changed > 256 * 40)
			fail_msg("bit %d changes %u of 64 bits", bit, changed / 256);
	}
}

static void random_seeds_differ(void **state)
{
	assert_true(hash_random_seed() != hash_random_seed());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_nothing_in_empty_map),
		cmocka_unit_test(tells_added_from_found),
		cmocka_unit_test(agrees_with_plain_table_under_random_changes),
		cmocka_unit_test(iterates_over_each_key_once),
		cmocka_unit_test(hostile_keys_stay_spread_in_map),
		cmocka_unit_test(two_maps_order_keys_differently),
		cmocka_unit_test(index_finds_items_by_content),
		cmocka_unit_test(index_tells_items_with_one_hash_apart),
		cmocka_unit_test(index_refuses_the_reserved_number),
		cmocka_unit_test(hash_of_bytes_depends_on_every_bit_size_and_seed),
		cmocka_unit_test(hash_of_bytes_does_not_depend_on_alignment),
		cmocka_unit_test(hash_u64_changes_half_of_the_bits),
		cmocka_unit_test(random_seeds_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
