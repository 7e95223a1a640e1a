// SPDX-License-Identifier: BSD-2-Clause
/* The extent allocator against a plain list of taken numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/table/extent_allocator.h"

static void takes_the_smallest_range_that_fits(void **state)
{
	struct extent_allocator *allocator = extent_allocator_new(100);
	uint32_t a, b, c, d;

	assert_true(extent_allocator_take(allocator, 30, &a));
	assert_true(extent_allocator_take(allocator, 10, &b));
	assert_true(extent_allocator_take(allocator, 20, &c));
	assert_true(extent_allocator_give(allocator, a, 30));
	assert_true(extent_allocator_take(allocator, 10, &d));
	assert_int_equal(d, 0);
	assert_true(extent_allocator_give(allocator, d, 10));
	assert_true(extent_allocator_give(allocator, b, 10));
	assert_int_equal(extent_allocator_largest(allocator), 40);
	assert_true(extent_allocator_give(allocator, c, 20));
	assert_int_equal(extent_allocator_largest(allocator), 100);
	assert_int_equal(extent_allocator_free_count(allocator), 100);
	extent_allocator_free(allocator);
}

static void refuses_what_cannot_be(void **state)
{
	struct extent_allocator *allocator = extent_allocator_new(10);
	uint32_t start = 77;

	assert_false(extent_allocator_take(allocator, 0, &start));
	assert_false(extent_allocator_take(allocator, 11, &start));
	assert_int_equal(start, 77);
	assert_false(extent_allocator_give(allocator, 0, 1));
	assert_true(extent_allocator_take(allocator, 10, &start));
	assert_false(extent_allocator_take(allocator, 1, &start));
	assert_false(extent_allocator_give(allocator, 10, 1));
	assert_false(extent_allocator_give(allocator, 5, 6));
	assert_false(extent_allocator_give(allocator, 5, UINT32_MAX));
	assert_false(extent_allocator_give(allocator, 5, 0));
	assert_true(extent_allocator_give(allocator, 5, 2));
	assert_false(extent_allocator_give(allocator, 4, 2));
	assert_false(extent_allocator_give(allocator, 6, 2));
	assert_int_equal(extent_allocator_free_count(allocator), 2);
	extent_allocator_free(allocator);
	extent_allocator_free(NULL);
}

#define SIZE 500

struct taken {
	uint32_t start, count;
};

static void agrees_with_a_plain_list_over_many_steps(void **state)
{
	struct extent_allocator *allocator = extent_allocator_new(SIZE);
	static uint8_t used[SIZE];
	struct taken taken[SIZE];
	size_t count = 0;
	uint32_t used_count = 0;

	srand(1);
	memset(used, 0, sizeof(used));
	for (int step = 0; step < 20000; step++) {
		if (rand() % 2 && count < SIZE) {
			struct taken one = {.count = 1 + (uint32_t)rand() % 20};
			uint32_t run = 0, longest = 0;

			for (uint32_t i = 0; i < SIZE; i++) {
				run = used[i] ? 0 : run + 1;
				longest = run > longest ? run : longest;
			}
			assert_int_equal(extent_allocator_largest(allocator), longest);
			if (!extent_allocator_take(allocator, one.count, &one.start)) {
				assert_true(longest < one.count);
				continue;
			}
			for (uint32_t i = 0; i < one.count; i++) {
				assert_false(used[one.start + i]);
				used[one.start + i] = 1;
			}
			used_count += one.count;
			taken[count++] = one;
		} else if (count) {
			size_t index = (size_t)rand() % count;
			struct taken one = taken[index];

			taken[index] = taken[--count];
			assert_true(extent_allocator_give(allocator, one.start, one.count));
			memset(&used[one.start], 0, one.count);
			used_count -= one.count;
		}
		assert_int_equal(extent_allocator_free_count(allocator), SIZE - used_count);
	}
	extent_allocator_free(allocator);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_smallest_range_that_fits),
		cmocka_unit_test(refuses_what_cannot_be),
		cmocka_unit_test(agrees_with_a_plain_list_over_many_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
