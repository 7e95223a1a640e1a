// SPDX-License-Identifier: BSD-2-Clause
// Tests when a limit of memory makes a capture give up detail, and in which order.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "live/memory_limit.h"

#define MIB (1ULL << 20)

static int look(struct memory_limit *limit, uint64_t used_bytes)
{
	assert_true(memory_limit_is_due(limit, limit->next_look_ns));
	return memory_limit_look(limit, used_bytes, limit->next_look_ns);
}

static void without_a_limit_nothing_is_measured(void **state)
{
	struct memory_limit limit = {0};

	assert_false(memory_limit_is_due(&limit, UINT64_MAX));
	assert_int_equal(memory_limit_share(0, 4, 64 * MIB), 64 * MIB);
}

static void memory_is_measured_four_times_a_second(void **state)
{
	struct memory_limit limit = {.limit_bytes = 100 * MIB};

	assert_int_equal(memory_limit_look(&limit, 10 * MIB, 1000), -1);
	assert_false(memory_limit_is_due(&limit, 1000 + MEMORY_LOOK_NS - 1));
	assert_true(memory_limit_is_due(&limit, 1000 + MEMORY_LOOK_NS));
	assert_int_equal(limit.peak_bytes, 10 * MIB);
}

static void steps_come_in_order_before_the_limit_is_reached_and_again(void **state)
{
	struct memory_limit limit = {.limit_bytes = 80 * MIB};

	assert_int_equal(look(&limit, 70 * MIB), -1);
	for (int round = 0; round < 2; round++)
		for (int step = 0; step < MEMORY_STEP_COUNT; step++)
			assert_int_equal(look(&limit, 71 * MIB), step);
	assert_int_equal(limit.taken[MEMORY_STEP_JOIN], 2);
	assert_int_equal(limit.looks_above, 0);
	look(&limit, 81 * MIB);
	assert_int_equal(limit.looks_above, 1);
	assert_int_equal(limit.peak_bytes, 81 * MIB);
}

static void when_memory_is_there_again_the_next_need_begins_with_the_first_step(void **state)
{
	struct memory_limit limit = {.limit_bytes = 80 * MIB};

	for (int step = 0; step < 3; step++)
		assert_int_equal(look(&limit, 75 * MIB), step);
	assert_int_equal(look(&limit, 60 * MIB), -1);
	assert_int_equal(look(&limit, 75 * MIB), MEMORY_STEP_TABLES);
}

static void every_step_has_a_text(void **state)
{
	for (int step = 0; step < MEMORY_STEP_COUNT; step++)
		assert_non_null(memory_step_text(step));
}

static void shares_never_exceed_the_size_without_a_limit(void **state)
{
	assert_int_equal(memory_limit_share(128 * MIB, 4, 64 * MIB), 32 * MIB);
	assert_int_equal(memory_limit_share(1024 * MIB, 4, 64 * MIB), 64 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_nothing_is_measured),
		cmocka_unit_test(memory_is_measured_four_times_a_second),
		cmocka_unit_test(steps_come_in_order_before_the_limit_is_reached_and_again),
		cmocka_unit_test(
			when_memory_is_there_again_the_next_need_begins_with_the_first_step),
		cmocka_unit_test(every_step_has_a_text),
		cmocka_unit_test(shares_never_exceed_the_size_without_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
