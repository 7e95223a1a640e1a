// SPDX-License-Identifier: BSD-2-Clause
/* Tests that the largest numbers of a stream are kept, in slots of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/largest.h"

#define LIMIT 10

/* Feeds the stream with what its caller would keep beside it. */
static void feed(struct largest *largest, uint64_t *kept, uint64_t value)
{
	uint64_t bound = largest_bound(largest);
	size_t slot = SIZE_MAX;
	int result = largest_add(largest, value, &slot);

	assert_int_equal(result, value >= bound);
	if (result) {
		assert_true(slot < largest->limit);
		kept[slot] = value;
	} else {
		assert_int_equal(slot, SIZE_MAX);
	}
}

static int descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

static void check_stream(uint64_t *values, size_t count)
{
	struct largest largest = {.limit = LIMIT};
	uint64_t kept[LIMIT] = {0};
	size_t expected = count < LIMIT ? count : LIMIT;

	for (size_t i = 0; i < count; i++)
		feed(&largest, kept, values[i]);
	assert_int_equal(largest.heap.count, expected);
	qsort(kept, expected, sizeof(*kept), descending);
	qsort(values, count, sizeof(*values), descending);
	assert_memory_equal(kept, values, expected * sizeof(*kept));
	assert_int_equal(largest_bound(&largest), count < LIMIT ? 0 : values[LIMIT - 1] + 1);
	largest_done(&largest);
}

static void the_largest_stay_whatever_the_order(void **state)
{
	uint64_t values[500], seed = 1;

	for (size_t count = 1; count < 500; count += count < 30 ? 1 : 67) {
		for (size_t i = 0; i < count; i++)
			values[i] = i;
		check_stream(values, count);
		for (size_t i = 0; i < count; i++)
			values[i] = count - i;
		check_stream(values, count);
		for (size_t i = 0; i < count; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			values[i] = seed >> 57; /* many are equal */
		}
		check_stream(values, count);
	}
}

static void of_equal_numbers_the_first_stay(void **state)
{
	struct largest largest = {.limit = 2};
	size_t slot;

	assert_int_equal(largest_add(&largest, 7, &slot), 1);
	assert_int_equal(slot, 0);
	assert_int_equal(largest_add(&largest, 7, &slot), 1);
	assert_int_equal(slot, 1);
	assert_int_equal(largest_add(&largest, 7, &slot), 0);
	assert_int_equal(largest_bound(&largest), 8);
	largest_done(&largest);
}

static void a_limit_of_0_keeps_nothing(void **state)
{
	struct largest largest = {0};
	size_t slot;

	assert_int_equal(largest_bound(&largest), UINT64_MAX);
	assert_int_equal(largest_add(&largest, UINT64_MAX, &slot), 0);
	largest_done(&largest);
}

static void the_largest_number_there_is_leaves_no_bound_above(void **state)
{
	struct largest largest = {.limit = 1};
	size_t slot;

	assert_int_equal(largest_add(&largest, UINT64_MAX, &slot), 1);
	assert_int_equal(largest_bound(&largest), UINT64_MAX);
	assert_int_equal(largest_add(&largest, UINT64_MAX, &slot), 0);
	largest_done(&largest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_stay_whatever_the_order),
		cmocka_unit_test(of_equal_numbers_the_first_stay),
		cmocka_unit_test(a_limit_of_0_keeps_nothing),
		cmocka_unit_test(the_largest_number_there_is_leaves_no_bound_above),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
