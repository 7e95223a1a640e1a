// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/array: growth, zeroed items, refusal of impossible sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/array.h"

struct item {
	uint64_t number;
	char padding[17];
};

typedef ARRAY_OF(struct item) item_array;

static void keeps_items_while_growing(void **state)
{
	item_array items = {0};
	uint64_t expected = 0;

	for (uint64_t i = 0; i < 10000; i++) {
		struct item *item = array_add(&items);

		assert_non_null(item);
		assert_int_equal(item->number, 0);
		item->number = i;
		item->padding[16] = 'x';
	}
	assert_int_equal(items.count, 10000);
	assert_true(items.capacity >= items.count);
	array_foreach(&items, each)
		assert_int_equal(each->number, expected++);
	assert_int_equal(expected, 10000);
	array_free(&items);
	assert_null(items.items);
	assert_int_equal(items.count + items.capacity, 0);
}

static void zeroes_an_item_that_is_reused(void **state)
{
	item_array items = {0};

	array_add(&items)->number = 7;
	items.count = 0;
	assert_int_equal(array_add(&items)->number, 0);
	array_free(&items);
}

static void grows_in_few_steps(void **state)
{
	item_array items = {0};
	size_t capacity = 0;
	int steps = 0;

	for (int i = 0; i < 100000; i++) {
		array_add(&items);
		if (items.capacity != capacity)
			steps++;
		capacity = items.capacity;
	}
	assert_true(steps < 20);
	array_free(&items);
}

static void reserves_at_least_what_is_needed(void **state)
{
	item_array items = {0};
	struct item *first;

	assert_true(array_reserve(&items, 1000));
	assert_true(items.capacity >= 1000);
	assert_int_equal(items.count, 0);
	first = items.items;
	for (int i = 0; i < 1000; i++)
		array_add(&items);
	assert_ptr_equal(items.items, first);
	array_free(&items);
}

static void refuses_sizes_that_overflow(void **state)
{
	static const size_t needed[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / sizeof(struct item),
					SIZE_MAX / sizeof(struct item) + 1,
					PTRDIFF_MAX / sizeof(struct item) + 1};
	item_array items = {0};

	array_add(&items)->number = 42;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		struct item *before = items.items;
		size_t capacity = items.capacity;

		assert_false(array_reserve(&items, needed[i]));
		assert_ptr_equal(items.items, before);
		assert_int_equal(items.capacity, capacity);
		assert_int_equal(items.items[0].number, 42);
	}
	array_free(&items);
}

static void walks_empty_and_const_arrays(void **state)
{
	item_array items = {0};
	const item_array *view = &items;
	size_t seen = 0;

	array_foreach(view, each)
		seen++;
	assert_int_equal(seen, 0);
	array_add(&items);
	array_foreach(view, each)
		seen += each->number + 1;
	assert_int_equal(seen, 1);
	array_free(&items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_items_while_growing),
		cmocka_unit_test(zeroes_an_item_that_is_reused),
		cmocka_unit_test(grows_in_few_steps),
		cmocka_unit_test(reserves_at_least_what_is_needed),
		cmocka_unit_test(refuses_sizes_that_overflow),
		cmocka_unit_test(walks_empty_and_const_arrays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
