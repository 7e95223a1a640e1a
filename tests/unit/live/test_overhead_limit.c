// SPDX-License-Identifier: BSD-2-Clause
// Tests what is left out to stay within a limit of CPU time, and when it is taken back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/event.h>

#include "base/clock.h"
#include "live/overhead_limit.h"

#define ALL UINT32_MAX

static int second(struct overhead_limit *limit, unsigned int percent)
{
	return overhead_limit_add(limit, percent * NS_PER_SECOND / 100, NS_PER_SECOND);
}

static void without_a_limit_nothing_is_left_out(void **state)
{
	struct overhead_limit limit = {.kinds_mask = ALL};
	struct pkbpf_shed_control shed = overhead_limit_shed(&limit), nothing = {0};

	for (int i = 0; i < 10; i++)
		assert_int_equal(second(&limit, 90), 0);
	assert_memory_equal(&shed, &nothing, sizeof(shed));
	assert_string_equal(overhead_limit_text(&limit), "");
}

static void the_first_second_is_left_to_the_stacks_of_waits(void **state)
{
	struct overhead_limit limit = {.limit_permille = 20, .kinds_mask = ALL};

	assert_int_equal(second(&limit, 3), 0);
	assert_int_equal(second(&limit, 1), 0);
	assert_int_equal(second(&limit, 3), 0);
	assert_int_equal(second(&limit, 3), 1);
	assert_int_equal(overhead_limit_shed(&limit).no_wakers, 1);
	assert_int_equal(overhead_limit_shed(&limit).fault_shift, 0);
}

static void cpu_samples_are_left_out_last_and_then_it_is_said(void **state)
{
	struct overhead_limit limit = {.limit_permille = 20, .kinds_mask = ALL};
	uint32_t steps = 0;

	second(&limit, 3);
	while (second(&limit, 3) == 1) {
		steps++;
		if (overhead_limit_shed(&limit).cpu_mask)
			assert_int_equal(overhead_limit_shed(&limit).blockio_mask, 63);
	}
	assert_int_equal(steps, 8);
	assert_int_equal(overhead_limit_shed(&limit).cpu_mask, 7);
	assert_int_equal(overhead_limit_shed(&limit).fault_shift, 6);
	assert_int_equal(limit.unheeded, 1);
}

static void kinds_that_are_not_captured_have_no_steps(void **state)
{
	struct overhead_limit limit = {.limit_permille = 20, .kinds_mask = 1U << PKBPF_PROFILE_CPU};

	second(&limit, 3);
	assert_int_equal(second(&limit, 3), 1);
	assert_int_equal(overhead_limit_shed(&limit).cpu_mask, 1);
	assert_int_equal(overhead_limit_shed(&limit).no_wakers, 0);
	assert_non_null(strstr(overhead_limit_text(&limit), "CPU samples"));
}

static void steps_are_taken_back_when_little_is_used(void **state)
{
	struct overhead_limit limit = {.limit_permille = 60, .kinds_mask = ALL};

	second(&limit, 10);
	second(&limit, 10);
	assert_int_equal(second(&limit, 10), 1);
	for (int i = 0; i < 20; i++)
		assert_int_equal(second(&limit, 3), 0);
	for (int back = 0; back < 2; back++) {
		for (int i = 0; i < 4; i++)
			assert_int_equal(second(&limit, 1), 0);
		assert_int_equal(second(&limit, 1), -1);
	}
	assert_int_equal(limit.step, 0);
	assert_int_equal(second(&limit, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_nothing_is_left_out),
		cmocka_unit_test(the_first_second_is_left_to_the_stacks_of_waits),
		cmocka_unit_test(cpu_samples_are_left_out_last_and_then_it_is_said),
		cmocka_unit_test(kinds_that_are_not_captured_have_no_steps),
		cmocka_unit_test(steps_are_taken_back_when_little_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
