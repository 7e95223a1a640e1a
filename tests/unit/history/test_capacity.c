// SPDX-License-Identifier: BSD-2-Clause
/* Tests how growth is estimated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "history/capacity.h"

static struct capacity_figure days(size_t count, double first, double per_day)
{
	struct capacity_figure figure = {.day_count = count};

	for (size_t i = 0; i < count; i++)
		figure.days[i] =
			(struct capacity_day){20000 + (int64_t)i, first + per_day * (double)i};
	return figure;
}

static void few_days_say_nothing(void **state)
{
	struct capacity_figure figure = days(CAPACITY_DAYS_MIN - 1, 10, 5);

	capacity_estimate(&figure, 80);
	assert_false(figure.has_growth);
	assert_false(figure.meets_limit);
}

static void a_steady_growth_meets_its_limit(void **state)
{
	struct capacity_figure figure = days(11, 20, 2);

	capacity_estimate(&figure, 80);
	assert_true(figure.has_growth);
	assert_float_equal(figure.growth_per_week, 14, 1e-9);
	assert_true(figure.meets_limit);
	/* 40 on the last day. */
	assert_float_equal(figure.days_to_limit, 20, 1e-9);
}

static void a_few_unusual_days_do_not_matter(void **state)
{
	struct capacity_figure figure = days(15, 20, 1);

	figure.days[3].p95 = 99;
	figure.days[14].p95 = 2;
	capacity_estimate(&figure, 80);
	assert_float_equal(figure.growth_per_week, 7, 0.7);
	assert_float_equal(figure.days_to_limit, 46, 3);
}

static void days_that_are_missing_are_no_steps(void **state)
{
	struct capacity_figure figure = days(10, 20, 1);

	for (size_t i = 5; i < 10; i++) {
		figure.days[i].number += 10;
		figure.days[i].p95 += 10;
	}
	capacity_estimate(&figure, 80);
	assert_float_equal(figure.growth_per_week, 7, 1e-9);
}

static void what_shrinks_meets_nothing_unless_it_is_above(void **state)
{
	struct capacity_figure figure = days(10, 50, -1);

	capacity_estimate(&figure, 80);
	assert_true(figure.has_growth);
	assert_false(figure.meets_limit);
	figure = days(10, 95, -1);
	capacity_estimate(&figure, 80);
	assert_true(figure.meets_limit);
	assert_float_equal(figure.days_to_limit, 0, 0);
	figure = days(10, 50, 1);
	capacity_estimate(&figure, 0);
	assert_false(figure.meets_limit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_days_say_nothing),
		cmocka_unit_test(a_steady_growth_meets_its_limit),
		cmocka_unit_test(a_few_unusual_days_do_not_matter),
		cmocka_unit_test(days_that_are_missing_are_no_steps),
		cmocka_unit_test(what_shrinks_meets_nothing_unless_it_is_above),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
