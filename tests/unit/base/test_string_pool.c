// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/string_pool: one id per distinct string, addresses that stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/string_pool.h"

static int pool_setup(void **state)
{
	*state = string_pool_new();
	return *state ? 0 : -1;
}

static int pool_teardown(void **state)
{
	string_pool_free(*state);
	return 0;
}

static void empty_string_is_id_0(void **state)
{
	assert_int_equal(string_pool_count(*state), 1);
	assert_int_equal(string_pool_add(*state, ""), 0);
	assert_int_equal(string_pool_add_n(*state, "abc", 0), 0);
	assert_string_equal(string_pool_get(*state, 0), "");
	assert_int_equal(string_pool_count(*state), 1);
}

static void same_string_has_same_id(void **state)
{
	char copy[] = "main";
	uint32_t id = string_pool_add(*state, "main");

	assert_int_equal(id, 1);
	assert_int_equal(string_pool_add(*state, copy), id);
	assert_int_equal(string_pool_add_n(*state, "mainly", 4), id);
	assert_int_equal(string_pool_add(*state, "mai"), 2);
	assert_int_equal(string_pool_add(*state, "mainly"), 3);
	assert_int_equal(string_pool_count(*state), 4);
}

static void stops_at_first_nul(void **state)
{
	uint32_t id = string_pool_add_n(*state, "comm\0left over", 16);

	assert_string_equal(string_pool_get(*state, id), "comm");
	assert_int_equal(string_pool_add(*state, "comm"), id);
}

static void reads_no_byte_past_length(void **state)
{
	char *exact = malloc(5); /* AddressSanitizer watches its end */
	uint32_t id;

	memcpy(exact, "abcde", 5);
	id = string_pool_add_n(*state, exact, 5);
	free(exact);
	assert_string_equal(string_pool_get(*state, id), "abcde");
}

static void unknown_id_gives_empty_string(void **state)
{
	assert_string_equal(string_pool_get(*state, 1), "");
	assert_string_equal(string_pool_get(*state, STRING_POOL_NONE), "");
}

static void keeps_addresses_while_growing(void **state)
{
	static const char *addresses[50000];
	char name[32];

	for (uint32_t i = 1; i < 50000; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		assert_int_equal(string_pool_add(*state, name), i);
		addresses[i] = string_pool_get(*state, i);
	}
	for (uint32_t i = 1; i < 50000; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		assert_ptr_equal(string_pool_get(*state, i), addresses[i]);
		assert_string_equal(addresses[i], name);
		assert_int_equal(string_pool_add(*state, name), i);
	}
}

static void mixes_huge_and_small_strings(void **state)
{
	size_t size = 300 * 1024;
	char *huge = malloc(size + 1), name[32];
	uint32_t ids[20], small[20];

	memset(huge, 'h', size);
	huge[size] = '\0';
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "small %d", i);
		small[i] = string_pool_add(*state, name);
		ids[i] = string_pool_add_n(*state, huge, size / 20 * (size_t)(i + 1));
	}
	for (int i = 0; i < 20; i++) {
		const char *stored = string_pool_get(*state, ids[i]);

		snprintf(name, sizeof(name), "small %d", i);
		assert_string_equal(string_pool_get(*state, small[i]), name);
		assert_int_equal(strlen(stored), size / 20 * (size_t)(i + 1));
		assert_int_equal(strspn(stored, "h"), strlen(stored));
	}
	assert_int_equal(string_pool_count(*state), 41);
	free(huge);
}

static void adds_a_piece_of_its_own_string(void **state)
{
	uint32_t id = string_pool_add(*state, "libfoo.so.1");
	uint32_t piece = string_pool_add_n(*state, string_pool_get(*state, id), 6);

	assert_string_equal(string_pool_get(*state, piece), "libfoo");
}

static void finds_what_was_added_and_adds_nothing(void **state)
{
	uint32_t id = string_pool_add(*state, "libfoo.so.1");

	assert_int_equal(string_pool_find(*state, "libfoo.so.1"), id);
	assert_int_equal(string_pool_find(*state, ""), 0);
	assert_int_equal(string_pool_find(*state, "libfoo.so"), STRING_POOL_NONE);
	assert_int_equal(string_pool_count(*state), 2);
}

static void free_accepts_null(void **state)
{
	string_pool_free(NULL);
}

#define POOL_TEST(name) cmocka_unit_test_setup_teardown(name, pool_setup, pool_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		POOL_TEST(empty_string_is_id_0),
		POOL_TEST(same_string_has_same_id),
		POOL_TEST(stops_at_first_nul),
		POOL_TEST(reads_no_byte_past_length),
		POOL_TEST(unknown_id_gives_empty_string),
		POOL_TEST(keeps_addresses_while_growing),
		POOL_TEST(mixes_huge_and_small_strings),
		POOL_TEST(adds_a_piece_of_its_own_string),
		POOL_TEST(finds_what_was_added_and_adds_nothing),
		cmocka_unit_test(free_accepts_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
