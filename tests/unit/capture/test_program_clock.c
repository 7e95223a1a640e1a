// SPDX-License-Identifier: BSD-2-Clause
/* Tests when the run time of BPF programs is measured without pauses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "capture/program_clock.h"

#define NS_PER_US 1000ULL

static void rare_runs_are_measured_without_a_pause(void **state)
{
	/* 300 runs a second: 14 us of measuring in a pause, against 100 us for a switch. */
	assert_true(program_clock_stays(30, 100 * NS_PER_MS, 100 * NS_PER_US));
	assert_true(program_clock_stays(300, NS_PER_SECOND, 100 * NS_PER_US));
}

static void frequent_runs_are_measured_now_and_then(void **state)
{
	/* 50,000 a second: 2 ms. */
	assert_false(program_clock_stays(5000, 100 * NS_PER_MS, 100 * NS_PER_US));
	assert_true(program_clock_stays(5000, 100 * NS_PER_MS, 20 * NS_PER_MS));
}

static void switches_without_a_price_are_made(void **state)
{
	assert_false(program_clock_stays(1, 100 * NS_PER_MS, 0));
	assert_false(program_clock_stays(0, 0, NS_PER_MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rare_runs_are_measured_without_a_pause),
		cmocka_unit_test(frequent_runs_are_measured_now_and_then),
		cmocka_unit_test(switches_without_a_price_are_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
