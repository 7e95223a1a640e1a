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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_of_all_memos_are_added_up),
		cmocka_unit_test(stacks_of_used_entries_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
