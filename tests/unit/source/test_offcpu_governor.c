// SPDX-License-Identifier: BSD-2-Clause
/* Tests that the governor finds a rate that keeps its limit, and comes back from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "source/offcpu_governor.h"

#define SECOND 1000000000ULL

static void takes_every_stack_while_the_cost_is_below_the_limit(void **state)
{
	assert_int_equal(offcpu_governor_mask(0, SECOND / 100, SECOND, 20), 0);
}

static void thins_out_by_powers_of_two_until_the_limit_holds(void **state)
{
	/* 40 % of a CPU, 5 % allowed: one in eight. */
	assert_int_equal(offcpu_governor_mask(0, SECOND * 2 / 5, SECOND, 50), 7);
	assert_int_equal(offcpu_governor_mask(3, SECOND / 10, SECOND, 50), 7);
}

static void never_thins_out_beyond_its_bound(void **state)
{
	assert_int_equal(offcpu_governor_mask(0, UINT64_MAX, SECOND, 10), OFFCPU_GOVERNOR_MAX_MASK);
	assert_int_equal(offcpu_governor_mask(OFFCPU_GOVERNOR_MAX_MASK, SECOND, SECOND, 10), OFFCPU_GOVERNOR_MAX_MASK);
}

static void comes_back_one_step_at_a_time(void **state)
{
	uint32_t mask = OFFCPU_GOVERNOR_MAX_MASK;

	for (int i = 0; i < 10; i++) {
		uint32_t next = offcpu_governor_mask(mask, 0, SECOND, 50);

		assert_int_equal(next, mask / 2);
		mask = next;
	}
	assert_int_equal(mask, 0);
}

static void stays_where_the_cost_is_near_the_limit(void **state)
{
	assert_int_equal(offcpu_governor_mask(7, SECOND / 25, SECOND, 50), 7);
	/* Twice this cost would be above the limit. */
	assert_int_equal(offcpu_governor_mask(7, SECOND * 3 / 100, SECOND, 50), 7);
}

static void settles_when_the_cost_halves_with_each_step(void **state)
{
	uint32_t mask = 0, last = 0;

	/* 100 ms of fixed cost, 700 ms of stacks; 30 % allowed. */
	for (int i = 0; i < 50; i++) {
		last = mask;
		mask = offcpu_governor_mask(mask, SECOND / 10 + SECOND * 7 / 10 / (mask + 1), SECOND, 300);
	}
	assert_int_equal(mask, last);
	assert_true(mask == 3);
}

static void does_not_judge_without_time_or_limit(void **state)
{
	assert_int_equal(offcpu_governor_mask(3, 100, 0, 50), 3);
	assert_int_equal(offcpu_governor_mask(3, 100, SECOND, 0), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_every_stack_while_the_cost_is_below_the_limit),
		cmocka_unit_test(thins_out_by_powers_of_two_until_the_limit_holds),
		cmocka_unit_test(never_thins_out_beyond_its_bound),
		cmocka_unit_test(comes_back_one_step_at_a_time),
		cmocka_unit_test(stays_where_the_cost_is_near_the_limit),
		cmocka_unit_test(settles_when_the_cost_halves_with_each_step),
		cmocka_unit_test(does_not_judge_without_time_or_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
