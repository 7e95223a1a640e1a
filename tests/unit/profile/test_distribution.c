// SPDX-License-Identifier: BSD-2-Clause
/* Tests that what is added up by key stays apart, and that sparse histograms equal dense ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/account/distribution.h"

static int setup(void **state)
{
	*state = distribution_table_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	distribution_table_free(*state);
	return 0;
}

static const struct distribution_key wait_key = {
	.kind = PKBPF_PROFILE_OFFCPU, .process = 3, .tid = 7, .state = 1};

static void keeps_keys_that_differ_in_one_field_apart(void **state)
{
	struct distribution_key keys[7];
	struct distribution_change change = {.count = 1, .total = 10, .max = 10};

	for (size_t i = 0; i < 7; i++)
		keys[i] = wait_key;
	keys[1].kind = PKBPF_PROFILE_CPU;
	keys[2].process++;
	keys[3].tid++;
	keys[4].device++;
	keys[5].state++;
	keys[6].measure++;
	for (uint64_t i = 0; i < 7; i++) {
		change.total = 10 + i;
		assert_int_equal(distribution_table_add(*state, &keys[i], &change), 0);
	}
	for (uint64_t i = 0; i < 7; i++) {
		const struct distribution *found = distribution_table_find(*state, &keys[i]);

		assert_non_null(found);
		assert_int_equal(found->total, 10 + i);
		assert_ptr_equal(found, distribution_table_at(*state, i));
	}
	assert_null(distribution_table_at(*state, 7));
}

static void finds_nothing_under_a_key_that_was_never_added(void **state)
{
	assert_null(distribution_table_find(*state, &wait_key));
}

static void adds_counts_and_totals_but_keeps_the_largest_max(void **state)
{
	struct distribution_change change = {
		.count = 2, .total = 50, .max = 40, .bytes = 4096, .open = true};
	const struct distribution *found;

	distribution_table_add(*state, &wait_key, &change);
	change = (struct distribution_change){.count = 1, .total = 30, .max = 30, .bytes = 512};
	distribution_table_add(*state, &wait_key, &change);
	found = distribution_table_find(*state, &wait_key);
	assert_int_equal(found->count, 3);
	assert_int_equal(found->total, 80);
	assert_int_equal(found->max, 40);
	assert_int_equal(found->bytes, 4608);
	assert_true(found->open);
	assert_false(found->estimated);
}

static void sparse_histogram_equals_a_dense_one(void **state)
{
	struct histogram *dense = calloc(1, sizeof(*dense)), *merged = calloc(1, sizeof(*merged));
	struct pkbpf_histogram_bucket buckets[PKBPF_HISTOGRAM_BUCKETS];
	const struct distribution *found;

	srand(4711);
	for (int round = 0; round < 200; round++) {
		struct distribution_change change = {.buckets = buckets};

		for (uint32_t i = 0; i < PKBPF_HISTOGRAM_BUCKETS; i++) {
			uint32_t count = (uint32_t)rand() % 1000;

			if (rand() % 50)
				continue;
			buckets[change.bucket_count++] = (struct pkbpf_histogram_bucket){i, count};
			dense->buckets[i] += count;
			dense->count += count;
			change.count += count;
		}
		assert_int_equal(distribution_table_add(*state, &wait_key, &change), 0);
	}
	found = distribution_table_find(*state, &wait_key);
	for (size_t i = 1; i < found->bucket_count; i++)
		assert_true(found->buckets[i - 1].index < found->buckets[i].index);
	distribution_merge(found, merged);
	assert_int_equal(merged->count, dense->count);
	assert_memory_equal(merged->buckets, dense->buckets, sizeof(dense->buckets));
	free(dense);
	free(merged);
}

static void hostile_counts_stop_at_the_top_instead_of_wrapping(void **state)
{
	struct pkbpf_histogram_bucket bucket = {3, UINT32_MAX};
	struct distribution_change change = {
		.count = UINT64_MAX, .total = UINT64_MAX, .buckets = &bucket, .bucket_count = 1};
	const struct distribution *found;

	distribution_table_add(*state, &wait_key, &change);
	distribution_table_add(*state, &wait_key, &change);
	found = distribution_table_find(*state, &wait_key);
	assert_true(found->count == UINT64_MAX);
	assert_true(found->total == UINT64_MAX);
	assert_int_equal(found->buckets[0].count, 2ULL * UINT32_MAX);
}

static void finds_each_of_many_keys(void **state)
{
	struct distribution_change change = {.count = 1};
	struct distribution_key key = wait_key;

	for (uint32_t i = 0; i < 5000; i++) {
		key.tid = i;
		change.total = i;
		assert_int_equal(distribution_table_add(*state, &key, &change), 0);
	}
	for (uint32_t i = 0; i < 5000; i++) {
		key.tid = i;
		assert_int_equal(distribution_table_find(*state, &key)->total, i);
	}
}

static uint64_t bucket_count_of(const struct distribution *distribution, uint32_t index)
{
	for (size_t i = 0; i < distribution->bucket_count; i++) {
		if (distribution->buckets[i].index == index)
			return distribution->buckets[i].count;
	}
	return 0;
}

static void give_to_process_0(const void *context, struct distribution_key *key)
{
	if (key->process % *(const uint32_t *)context) {
		key->process = 0;
		key->tid = 0;
	}
}

static void those_of_one_new_key_are_added_up(void **state)
{
	const uint32_t even = 2;
	struct pkbpf_histogram_bucket buckets[2] = {{.index = 4, .count = UINT32_MAX},
						    {.index = 9, .count = 2}};
	struct distribution_key key = wait_key;
	const struct distribution *found;

	for (uint32_t process = 0; process < 4; process++) {
		struct distribution_change change = {.count = 1 + process,
						     .total = 100,
						     .max = 50 + process,
						     .buckets = buckets,
						     .bucket_count = process ? 2 : 0};

		key.process = process;
		assert_int_equal(distribution_table_add(*state, &key, &change), 0);
	}
	assert_int_equal(distribution_table_rekey(*state, give_to_process_0, &even), 0);
	/* Of 1 and 3; what 0 had of its own has a thread. */
	key.process = 0;
	key.tid = 0;
	found = distribution_table_find(*state, &key);
	assert_int_equal(found->count, 2 + 4);
	assert_int_equal(found->total, 200);
	assert_int_equal(found->max, 53);
	assert_int_equal(bucket_count_of(found, 4), 2ULL * UINT32_MAX);
	assert_int_equal(bucket_count_of(found, 9), 4);
	key.tid = wait_key.tid;
	assert_int_equal(distribution_table_find(*state, &key)->count, 1);
	key.process = 2;
	found = distribution_table_find(*state, &key);
	assert_int_equal(found->count, 3);
	assert_int_equal(bucket_count_of(found, 9), 2);
	key.process = 3;
	assert_null(distribution_table_find(*state, &key));
	assert_null(distribution_table_at(*state, 3));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keeps_keys_that_differ_in_one_field_apart),
		TEST(finds_nothing_under_a_key_that_was_never_added),
		TEST(adds_counts_and_totals_but_keeps_the_largest_max),
		TEST(sparse_histogram_equals_a_dense_one),
		TEST(hostile_counts_stop_at_the_top_instead_of_wrapping),
		TEST(finds_each_of_many_keys),
		TEST(those_of_one_new_key_are_added_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
