// SPDX-License-Identifier: BSD-2-Clause
/* Tests that periods of the sampling timer without a sample are counted, each for its cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pkbpf/missed_periods.h>

#include "capture/perf_event.h"

#define MS 1000000ULL

struct missed_case {
	uint64_t last_ms, expires_ms, now_us, run_ms; /* period 10 ms */
	uint64_t late, own, of_unknown;
};

static void check(const struct missed_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct pkbpf_missed_periods missed = pkbpf_missed_periods(
			10 * MS, cases[i].last_ms * MS, cases[i].expires_ms * MS,
			cases[i].now_us * 1000, cases[i].run_ms * MS);

		assert_int_equal(missed.late, cases[i].late);
		assert_int_equal(missed.own, cases[i].own);
		assert_int_equal(missed.of_unknown, cases[i].of_unknown);
	}
}

static void misses_nothing_in_time_or_late_by_less_than_a_period(void **state)
{
	static const struct missed_case cases[] = {
		{.last_ms = 100, .expires_ms = 110, .now_us = 110020, .run_ms = 1000},
		{.last_ms = 100, .expires_ms = 110, .now_us = 119999, .run_ms = 1000},
		{.last_ms = 109,
		 .expires_ms = 110,
		 .now_us = 110020,
		 .run_ms = 1000}, /* the last one was late */
	};

	check(cases, sizeof(cases) / sizeof(*cases));
}

static void counts_the_periods_before_a_late_interrupt(void **state)
{
	static const struct missed_case cases[] = {
		{.last_ms = 100, .expires_ms = 110, .now_us = 120000, .late = 1},
		{.last_ms = 100, .expires_ms = 110, .now_us = 145000, .run_ms = 1000, .late = 3},
		{.last_ms = 0,
		 .expires_ms = 110,
		 .now_us = 145000,
		 .late = 3}, /* the first of this event */
	};

	check(cases, sizeof(cases) / sizeof(*cases));
}

static void counts_expiries_without_a_call_for_a_thread_that_ran_all_along(void **state)
{
	static const struct missed_case cases[] = {
		{.last_ms = 100, .expires_ms = 120, .now_us = 120020, .run_ms = 1000, .own = 1},
		{.last_ms = 100, .expires_ms = 150, .now_us = 150020, .run_ms = 1000, .own = 4},
	};

	check(cases, sizeof(cases) / sizeof(*cases));
}

static void leaves_open_whose_periods_are_that_began_before_the_thread_ran(void **state)
{
	static const struct missed_case cases[] = {
		{.last_ms = 100, .expires_ms = 150, .now_us = 150020, .run_ms = 0, .of_unknown = 4},
		{.last_ms = 100,
		 .expires_ms = 150,
		 .now_us = 150020,
		 .run_ms = 21,
		 .own = 2,
		 .of_unknown = 2},
		/* What it ran while the interrupt was late says nothing of the time before. */
		{.last_ms = 100,
		 .expires_ms = 150,
		 .now_us = 165000,
		 .run_ms = 20,
		 .late = 1,
		 .of_unknown = 4},
		{.last_ms = 100,
		 .expires_ms = 150,
		 .now_us = 165000,
		 .run_ms = 26,
		 .late = 1,
		 .own = 1,
		 .of_unknown = 3},
	};

	check(cases, sizeof(cases) / sizeof(*cases));
}

static void says_nothing_of_a_sample_without_times(void **state)
{
	static const struct missed_case cases[] = {
		{.last_ms = 100, .expires_ms = 0, .now_us = 150020, .run_ms = 1000},
		{.last_ms = 100,
		 .expires_ms = 160,
		 .now_us = 150020,
		 .run_ms = 1000}, /* due in the future */
	};
	struct pkbpf_missed_periods missed =
		pkbpf_missed_periods(0, 100 * MS, 150 * MS, 200 * MS, 0);

	check(cases, sizeof(cases) / sizeof(*cases));
	assert_int_equal(missed.late + missed.own + missed.of_unknown, 0);
}

static void only_an_event_that_counts_time_has_a_period(void **state)
{
	struct perf_event_attr attr;

	perf_event_cpu_attr(99, 0, &attr);
	assert_int_equal(perf_event_period_ns(&attr), 10101010);
	perf_event_cpu_attr(1000000, 0, &attr);
	assert_int_equal(perf_event_period_ns(&attr), 10000);
	perf_event_cpu_attr(99, 1, &attr);
	assert_int_equal(perf_event_period_ns(&attr), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(misses_nothing_in_time_or_late_by_less_than_a_period),
		cmocka_unit_test(counts_the_periods_before_a_late_interrupt),
		cmocka_unit_test(counts_expiries_without_a_call_for_a_thread_that_ran_all_along),
		cmocka_unit_test(leaves_open_whose_periods_are_that_began_before_the_thread_ran),
		cmocka_unit_test(says_nothing_of_a_sample_without_times),
		cmocka_unit_test(only_an_event_that_counts_time_has_a_period),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
