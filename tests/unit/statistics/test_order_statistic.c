// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/array.h"
#include "statistics/order_statistic.h"
#include "statistics/random.h"
#include "statistics/student_t.h"

#define assert_near(value, expected, error) assert_true(fabs((value) - (expected)) <= (error))

/* Ranks of the ends of a 95 % interval of the median, from tables of the sign test. */
static void intervals_of_medians_have_the_published_ranks(void **state)
{
	static const struct {
		size_t count, low;
	} table[] = {{6, 1}, {8, 1}, {9, 2}, {10, 2}, {15, 4}, {20, 6}, {30, 10}, {50, 18}};
	double values[50];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = (double)(i + 1);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct interval interval = order_median_interval(values, table[i].count, 0.05);

		assert_true(interval.known);
		assert_near(interval.low, (double)table[i].low, 0);
		assert_near(interval.high, (double)(table[i].count + 1 - table[i].low), 0);
	}
	assert_false(order_median_interval(values, 5, 0.05).known);
	assert_false(order_median_interval(values, 1, 0.05).known);
}

/* Of 2^-5000 no double is left; the binomial distribution is as good as normal. */
static void intervals_of_thousands_of_values_have_a_width(void **state)
{
	static double values[10000];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = (double)(i + 1);
	for (size_t count = 1000; count <= ARRAY_SIZE(values); count += 500) {
		struct interval interval = order_median_interval(values, count, 0.05);
		double middle = (double)(count + 1) / 2, reach = 1.96 * sqrt((double)count) / 2;

		assert_true(interval.known);
		assert_near(interval.low, middle - reach, 1.5);
		assert_near(interval.high, middle + reach, 1.5);
	}
}

static void quantiles_are_linear_between_neighbours(void **state)
{
	static const double values[] = {1, 2, 4, 8};

	(void)state;
	assert_near(order_quantile(values, 4, 0), 1, 0);
	assert_near(order_quantile(values, 4, 0.5), 3, 1e-12);
	assert_near(order_quantile(values, 4, 0.25), 1.75, 1e-12);
	assert_near(order_quantile(values, 4, 1), 8, 0);
	assert_near(order_quantile(values, 1, 0.5), 1, 0);
}

static void scatter_ignores_a_few_far_values(void **state)
{
	static const double values[] = {1, 2, 3, 4, 5, 6, 1000};
	double scratch[7];

	(void)state;
	assert_near(order_scatter(values, 7, scratch), 2 * 1.4826, 1e-9);
}

static void quantiles_of_t_are_those_of_the_tables(void **state)
{
	(void)state;
	assert_near(student_t_quantile(0.05, 1), 12.706, 5e-4);
	assert_near(student_t_quantile(0.05, 10), 2.228, 5e-4);
	assert_near(student_t_quantile(0.01, 30), 2.750, 5e-4);
	assert_near(student_t_quantile(0.05, STUDENT_T_MANY), 1.960, 5e-4);
}

static void shuffling_reaches_every_order_alike(void **state)
{
	uint64_t seed = 1;
	size_t seen[6] = {0};

	(void)state;
	for (int i = 0; i < 6000; i++) {
		uint32_t items[] = {0, 1, 2};

		random_shuffle(&seed, items, 3);
		seen[items[0] * 2 + (items[1] > items[2])]++;
	}
	for (size_t i = 0; i < ARRAY_SIZE(seen); i++)
		assert_in_range(seen[i], 850, 1150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_of_medians_have_the_published_ranks),
		cmocka_unit_test(intervals_of_thousands_of_values_have_a_width),
		cmocka_unit_test(quantiles_are_linear_between_neighbours),
		cmocka_unit_test(scatter_ignores_a_few_far_values),
		cmocka_unit_test(quantiles_of_t_are_those_of_the_tables),
		cmocka_unit_test(shuffling_reaches_every_order_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
