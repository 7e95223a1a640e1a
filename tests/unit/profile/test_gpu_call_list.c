// SPDX-License-Identifier: BSD-2-Clause
/* Tests for profile/account/gpu_call_list: equal rows add up, others stay apart, and those that
 * have become equal are one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "profile/account/account.h"
#include "profile/account/gpu_call_list.h"

static struct gpu_call call_of(uint32_t stack, uint64_t count, uint64_t max_ns)
{
	return (struct gpu_call){.process = 1,
				 .group = PKBPF_GPU_COPY,
				 .what = PKBPF_GPU_STACK,
				 .function = 3,
				 .kernel = GPU_CALL_NO_STACK,
				 .stack = stack,
				 .detail = PKBPF_GPU_HOST_TO_DEVICE,
				 .count = count,
				 .unmeasured = 1,
				 .ns = 10 * count,
				 .max_ns = max_ns,
				 .bytes = 100 * count,
				 .blocks = 2,
				 .freed = 1,
				 .freed_bytes = 7,
				 .samples = 1};
}

static void equal_rows_add_up(void **state)
{
	struct gpu_call first = call_of(4, 2, 15), second = call_of(4, 3, 12);
	struct gpu_call_list list = {.items.count = 0};
	const struct gpu_call *sum;

	assert_int_equal(gpu_call_list_add(&list, &first), 0);
	assert_int_equal(gpu_call_list_add(&list, &second), 0);
	assert_int_equal(list.items.count, 1);
	sum = &list.items.items[0];
	assert_int_equal(sum->count, 5);
	assert_int_equal(sum->unmeasured, 2);
	assert_int_equal(sum->ns, 50);
	assert_int_equal(sum->max_ns, 15);
	assert_int_equal(sum->bytes, 500);
	assert_int_equal(sum->blocks, 4);
	assert_int_equal(sum->freed, 2);
	assert_int_equal(sum->freed_bytes, 14);
	assert_int_equal(sum->samples, 2);
	account_ops_gpu_calls.done(&list);
	(void)state;
}

/* Functions and ways are small numbers. */
static void small_numbers_do_not_hide_each_other(void **state)
{
	struct gpu_call_list list = {.items.count = 0};

	for (int round = 0; round < 2; round++)
		for (uint32_t function = 0; function < 32; function++)
			for (uint64_t detail = 0; detail < 32; detail++) {
				struct gpu_call call = call_of(4, 1, 1);

				call.function = function;
				call.detail = detail;
				assert_int_equal(gpu_call_list_add(&list, &call), 0);
			}
	assert_int_equal(list.items.count, 32 * 32);
	array_foreach(&list.items, item)
		assert_int_equal(item->count, 2);
	account_ops_gpu_calls.done(&list);
	(void)state;
}

static void every_part_of_the_key_counts(void **state)
{
	struct gpu_call calls[] = {call_of(4, 1, 1), call_of(5, 1, 1), call_of(4, 1, 1),
				   call_of(4, 1, 1), call_of(4, 1, 1), call_of(4, 1, 1),
				   call_of(4, 1, 1), call_of(4, 1, 1)};
	struct gpu_call_list list = {.items.count = 0};

	calls[2].process = 2;
	calls[3].function = 9;
	calls[4].what = PKBPF_GPU_SUM;
	calls[5].kernel = 1;
	calls[6].name = 8;
	calls[7].detail = PKBPF_GPU_DEVICE_TO_HOST;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_int_equal(gpu_call_list_add(&list, &calls[i]), 0);
	assert_int_equal(list.items.count, ARRAY_SIZE(calls));
	account_ops_gpu_calls.done(&list);
	(void)state;
}

static void stacks_that_became_one_are_one_row(void **state)
{
	struct gpu_call calls[] = {call_of(4, 1, 1), call_of(5, 2, 9), call_of(6, 4, 1)};
	const uint32_t numbers[] = {0, 1, 2, 3, 1, 1, 2};
	struct gpu_call_list *list = account_new(ACCOUNT_gpu_calls);

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_int_equal(gpu_call_list_add(list, &calls[i]), 0);
	account_renumber(ACCOUNT_gpu_calls, list, numbers, ARRAY_SIZE(numbers));
	assert_int_equal(list->items.count, 2);
	assert_int_equal(list->items.items[0].count, 3);
	assert_int_equal(list->items.items[0].max_ns, 9);
	assert_int_equal(list->items.items[0].stack, 1);
	assert_int_equal(list->items.items[0].kernel, GPU_CALL_NO_STACK);
	assert_int_equal(list->items.items[1].stack, 2);
	assert_int_equal(gpu_call_list_add(list, &list->items.items[1]), 0);
	assert_int_equal(list->items.count, 2);
	account_free(ACCOUNT_gpu_calls, list);
	(void)state;
}

static void rows_are_bounded_and_checked(void **state)
{
	struct gpu_call call = call_of(0, 1, 1);
	struct gpu_call_list list = {.items.count = 0};
	const struct account_table *table = account_ops_gpu_calls.tables;

	for (uint32_t i = 0; i < GPU_CALL_ROWS_MAX; i++) {
		call.stack = i;
		assert_int_equal(gpu_call_list_add(&list, &call), 0);
	}
	call.stack = GPU_CALL_ROWS_MAX;
	assert_int_equal(gpu_call_list_add(&list, &call), -ENOSPC);
	call.stack = 5;
	assert_int_equal(gpu_call_list_add(&list, &call), 0);
	assert_true(table->is_valid(&call));
	call.unmeasured = 2;
	assert_false(table->is_valid(&call));
	call = call_of(0, 1, 1);
	call.group = PKBPF_GPU_NAME;
	assert_false(table->is_valid(&call));
	call = call_of(0, 1, 1);
	call.what = PKBPF_GPU_WHATS;
	assert_false(table->is_valid(&call));
	account_ops_gpu_calls.done(&list);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_rows_add_up),
		cmocka_unit_test(small_numbers_do_not_hide_each_other),
		cmocka_unit_test(every_part_of_the_key_counts),
		cmocka_unit_test(stacks_that_became_one_are_one_row),
		cmocka_unit_test(rows_are_bounded_and_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
