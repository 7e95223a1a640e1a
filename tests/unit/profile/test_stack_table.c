// SPDX-License-Identifier: BSD-2-Clause
// Tests that equal stacks get one id.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/stack_table.h"

static void equal_stacks_get_one_id(void **state)
{
	struct stack_table *table = stack_table_new();
	const uint32_t a[] = {1, 2, 3}, b[] = {1, 2, 4}, again[] = {1, 2, 3};
	uint32_t id_a = stack_table_add(table, a, 3), id_b = stack_table_add(table, b, 3);

	assert_int_equal(id_a, 0);
	assert_int_equal(id_b, 1);
	assert_int_equal(stack_table_add(table, again, 3), id_a);
	assert_int_equal(stack_table_add(table, a, 2), 2);
	assert_int_equal(stack_table_count(table), 3);
	stack_table_free(table);
}

static void the_empty_stack_is_a_stack(void **state)
{
	struct stack_table *table = stack_table_new();
	size_t count = 99;
	uint32_t id = stack_table_add(table, NULL, 0);

	assert_int_equal(stack_table_add(table, NULL, 0), id);
	assert_null(stack_table_get(table, id, &count));
	assert_int_equal(count, 0);
	stack_table_free(table);
}

static void an_unknown_id_gives_nothing(void **state)
{
	struct stack_table *table = stack_table_new();
	size_t count = 99;

	assert_null(stack_table_get(table, 7, &count));
	assert_int_equal(count, 0);
	stack_table_free(table);
}

static void many_stacks_are_all_found_again(void **state)
{
	struct stack_table *table = stack_table_new();
	uint32_t items[8];

	for (unsigned int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 20000; i++) {
			for (uint32_t j = 0; j < 8; j++)
				items[j] = i * (j + 1);
			assert_int_equal(stack_table_add(table, items, 1 + i % 8), i);
		}
	for (uint32_t i = 0; i < 20000; i++) {
		size_t count;
		const uint32_t *kept = stack_table_get(table, i, &count);

		assert_int_equal(count, 1 + i % 8);
		assert_int_equal(kept[count - 1], i * (uint32_t)count);
	}
	stack_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_get_one_id),
		cmocka_unit_test(the_empty_stack_is_a_stack),
		cmocka_unit_test(an_unknown_id_gives_nothing),
		cmocka_unit_test(many_stacks_are_all_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
