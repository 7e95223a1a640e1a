// SPDX-License-Identifier: BSD-2-Clause
/* Tests that the governor finds a rate that keeps its limit, and comes back from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "source/offcpu/offcpu_governor.h"

#define SECOND 1000000000ULL

static void takes_every_stack_while_the_cost_is_below_the_limit(void **state)
{
	assert_int_equal(offcpu_governor_quota(0, SECOND / 100, SECOND, 20), 0);
}

static void thins_out_by_powers_of_two_until_the_limit_holds(void **state)
{
	/* 40 % of a CPU, 5 % allowed: an eighth. */
	assert_int_equal(offcpu_governor_quota(0, SECOND * 2 / 5, SECOND, 50),
			 OFFCPU_GOVERNOR_FIRST_QUOTA / 4);
	assert_int_equal(offcpu_governor_quota(256, SECOND / 10, SECOND, 50), 128);
}

static void never_thins_out_beyond_its_bound(void **state)
{
	assert_int_equal(offcpu_governor_quota(0, UINT64_MAX, SECOND, 10),
			 OFFCPU_GOVERNOR_LEAST_QUOTA);
	assert_int_equal(offcpu_governor_quota(OFFCPU_GOVERNOR_LEAST_QUOTA, SECOND, SECOND, 10),
			 OFFCPU_GOVERNOR_LEAST_QUOTA);
}

static void comes_back_one_step_at_a_time(void **state)
{
	uint32_t quota = OFFCPU_GOVERNOR_LEAST_QUOTA;

	while (quota < OFFCPU_GOVERNOR_FIRST_QUOTA) {
		uint32_t next = offcpu_governor_quota(quota, 0, SECOND, 50);

		assert_int_equal(next, quota * 2);
		quota = next;
	}
	assert_int_equal(offcpu_governor_quota(quota, 0, SECOND, 50), 0);
}

static void stays_where_the_cost_is_near_the_limit(void **state)
{
	assert_int_equal(offcpu_governor_quota(64, SECOND / 25, SECOND, 50), 64);
	/* Twice this cost would be above the limit. */
	assert_int_equal(offcpu_governor_quota(64, SECOND * 3 / 100, SECOND, 50), 64);
}

static void settles_when_the_cost_halves_with_each_step(void **state)
{
	uint32_t quota = 0, last = 0;

	/* 100 ms of fixed cost, 700 ms of the stacks of 512 waits per window; 30 % allowed. */
	for (int i = 0; i < 50; i++) {
		uint64_t stacks_ns = SECOND * 7 / 10;

		last = quota;
		quota = offcpu_governor_quota(
			quota, SECOND / 10 + (quota ? stacks_ns * quota / 512 : stacks_ns), SECOND,
			300);
	}
	assert_int_equal(quota, last);
	assert_true(quota == 128);
}

static void does_not_judge_without_time_or_limit(void **state)
{
	assert_int_equal(offcpu_governor_quota(64, 100, 0, 50), 64);
	assert_int_equal(offcpu_governor_quota(64, 100, SECOND, 0), 64);
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
