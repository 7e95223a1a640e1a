// SPDX-License-Identifier: BSD-2-Clause
/* Tests for profile/account/python_call_list: equal rows add up, others stay apart, and rows of a
 * recording are checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "profile/account/account.h"
#include "profile/account/python_call_list.h"

static struct python_call call_of(uint32_t name, uint64_t count)
{
	return (struct python_call){.what = PYTHON_CALL_EDGE,
				    .name = name,
				    .file = 2,
				    .line = 3,
				    .qualified = name,
				    .caller_name = 4,
				    .caller_file = 5,
				    .caller_line = 6,
				    .count = count,
				    .primitive = count - 1,
				    .first = 1};
}

static void equal_rows_add_up(void **state)
{
	struct python_call first = call_of(1, 2), second = call_of(1, 40);
	struct python_call_list list = {.items.count = 0};

	second.qualified = 9; /* no part of the key */
	assert_int_equal(python_call_list_add(&list, &first), 0);
	assert_int_equal(python_call_list_add(&list, &second), 0);
	assert_int_equal(list.items.count, 1);
	assert_int_equal(list.items.items[0].count, 42);
	assert_int_equal(list.items.items[0].primitive, 40);
	assert_int_equal(list.items.items[0].first, 2);
	assert_int_equal(list.items.items[0].qualified, 1);
	account_ops_python_calls.done(&list);
	(void)state;
}

static void sums_end_at_the_greatest_number(void **state)
{
	struct python_call call = call_of(1, UINT64_MAX), other = call_of(1, 7);
	struct python_call_list list = {.items.count = 0};

	assert_int_equal(python_call_list_add(&list, &call), 0);
	assert_int_equal(python_call_list_add(&list, &other), 0);
	assert_int_equal(list.items.items[0].count, UINT64_MAX);
	assert_int_equal(list.items.items[0].primitive, UINT64_MAX);
	assert_int_equal(list.items.items[0].first, 2);
	assert_true(account_ops_python_calls.tables->is_valid(&list.items.items[0]));
	call.at = 1;
	assert_int_equal(python_call_list_add(&list, &call), 0);
	assert_int_equal(python_call_list_sum(&list, PYTHON_CALL_EDGE), UINT64_MAX);
	account_ops_python_calls.done(&list);
	(void)state;
}

static void every_part_of_the_key_counts(void **state)
{
	struct python_call calls[9];
	struct python_call_list list = {.items.count = 0};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		calls[i] = call_of(1, 5);
	calls[1].what = PYTHON_CALL_LINE;
	calls[2].name = 7;
	calls[3].file = 7;
	calls[4].line = 7;
	calls[5].caller_name = 7;
	calls[6].caller_file = 7;
	calls[7].caller_line = 7;
	calls[8].at = 7;
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
			assert_int_equal(python_call_list_add(&list, &calls[i]), 0);
	assert_int_equal(list.items.count, ARRAY_SIZE(calls));
	array_foreach(&list.items, item)
		assert_int_equal(item->count, 10);
	assert_int_equal(python_call_list_sum(&list, PYTHON_CALL_EDGE), 80);
	assert_int_equal(python_call_list_sum(&list, PYTHON_CALL_LINE), 10);
	assert_int_equal(python_call_list_sum(&list, PYTHON_CALL_LOST), 0);
	account_ops_python_calls.done(&list);
	(void)state;
}

static void rows_are_bounded_and_checked(void **state)
{
	struct python_call call = call_of(1, 5);
	struct python_call_list list = {.items.count = 0};
	const struct account_table *table = account_ops_python_calls.tables;

	for (uint32_t i = 0; i < PYTHON_CALL_ROWS_MAX; i++) {
		call.at = i;
		assert_int_equal(python_call_list_add(&list, &call), 0);
	}
	call.at = PYTHON_CALL_ROWS_MAX;
	assert_int_equal(python_call_list_add(&list, &call), -ENOSPC);
	/* The index stays as it is. */
	assert_int_equal(list.numbers.count, PYTHON_CALL_ROWS_MAX);
	call.at = 5;
	assert_int_equal(table->add(&list, &call), 0);
	assert_true(table->is_valid(&call));
	call.primitive = 6;
	assert_false(table->is_valid(&call));
	call = call_of(1, 5);
	call.first = 6;
	assert_false(table->is_valid(&call));
	call = call_of(1, 5);
	call.what = PYTHON_CALL_WHATS;
	assert_false(table->is_valid(&call));
	call.what = 0;
	assert_false(table->is_valid(&call));
	account_ops_python_calls.done(&list);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_rows_add_up),
		cmocka_unit_test(sums_end_at_the_greatest_number),
		cmocka_unit_test(every_part_of_the_key_counts),
		cmocka_unit_test(rows_are_bounded_and_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
