// SPDX-License-Identifier: BSD-2-Clause
/* Tests what is read of the table of recognised stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pkbpf/stack_memo.h>

#include "source/stack_maps.h"

static void hits_of_all_memos_are_added_up(void **state)
{
	struct pkbpf_stack_memo memos[4] = {[0] = {.hits = UINT32_MAX}, [3] = {.hits = 2}};
	struct stack_maps maps = {.memos = {.items = memos, .count = 4}};

	assert_int_equal(stack_maps_hits(&maps), (uint64_t)UINT32_MAX + 2);
}

static void add(void *context, uint64_t stack_id)
{
	*(uint64_t *)context = *(uint64_t *)context * 100 + stack_id;
}

static void stacks_of_used_entries_are_named(void **state)
{
	struct pkbpf_stack_memo memos[4] = {[0] = {.stack_id = 7},
					    [1] = {.tid = 1, .stack_id = 12},
					    [3] = {.tid = 1, .stack_id = 34}};
	struct stack_maps maps = {.memos = {.items = memos, .count = 4}};
	uint64_t named = 0;

	stack_maps_each_stack(&maps, add, &named);
	assert_int_equal(named, 1234);
	stack_maps_each_stack(NULL, add, &named);
	assert_int_equal(named, 1234);
}

static void tables_are_halved_until_they_fit_into_their_part(void **state)
{
	/* without a limit; with room for all; for a half, a quarter; never below the least */
	assert_int_equal(mapped_table_bound(65536, 4096, 1000, 0, 8), 65536);
	assert_int_equal(mapped_table_bound(65536, 4096, 1000, 8 * 65536000ULL, 8), 65536);
	assert_int_equal(mapped_table_bound(65536, 4096, 1000, 8 * 65536000ULL - 8, 8), 32768);
	assert_int_equal(mapped_table_bound(65536, 4096, 1000, 2 * 65536000ULL, 8), 16384);
	assert_int_equal(mapped_table_bound(65536, 4096, 1000, 1, 8), 4096);
	assert_int_equal(mapped_table_bound(2048, 4096, 1000, 1, 8), 4096);
	assert_int_equal(mapped_table_bound(1U << 31, 1, UINT32_MAX, UINT64_MAX, 1), 1U << 31);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_of_all_memos_are_added_up),
		cmocka_unit_test(stacks_of_used_entries_are_named),
		cmocka_unit_test(tables_are_halved_until_they_fit_into_their_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
