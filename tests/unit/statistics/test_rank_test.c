// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>

#include "base/array.h"
#include "statistics/random.h"
#include "statistics/rank_test.h"

#define assert_near(value, expected, error) assert_true(fabs((value) - (expected)) <= (error))

/* Two samples of which b is larger than a in u pairs. */
static void make_samples(size_t a_count, size_t b_count, size_t u, double *a, double *b)
{
	for (size_t i = 0; i < a_count; i++)
		a[i] = (double)(i + 1);
	for (size_t i = 0; i < b_count; i++) {
		size_t below = u < a_count ? u : a_count;

		b[i] = (double)below + 0.5 + (double)i / 1000;
		u -= below;
	}
}

static double probability_of(size_t a_count, size_t b_count, size_t u)
{
	double a[RANK_EXACT_MAX], b[RANK_EXACT_MAX];
	struct rank_test test;

	make_samples(a_count, b_count, u, a, b);
	assert_int_equal(rank_test(a, a_count, b, b_count, &test), 0);
	assert_true(test.exact);
	assert_int_equal(llround(test.u), (long long)u);
	return test.probability;
}

/* The largest u that is significant at 5 %, in both directions, as in the tables of textbooks. */
static void agrees_with_the_published_critical_values(void **state)
{
	static const struct {
		size_t a_count, b_count, u;
	} table[] = {
		{5, 5, 2},    {6, 6, 5},     {7, 7, 8},	 {8, 8, 13},  {9, 9, 17},   {10, 10, 23},
		{15, 15, 64}, {20, 20, 127}, {5, 10, 8}, {8, 12, 22}, {10, 20, 55},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		size_t a = table[i].a_count, b = table[i].b_count, u = table[i].u;

		assert_true(probability_of(a, b, u) <= 0.05);
		assert_true(probability_of(a, b, u + 1) > 0.05);
	}
	assert_near(probability_of(5, 5, 0), 2.0 / 252, 1e-12);
	assert_near(probability_of(10, 10, 0), 2.0 / 184756, 1e-12);
}

/* Hollander and Wolfe 1973, pages 69 and following: permeability of membranes. */
static void agrees_with_a_textbook_example(void **state)
{
	static const double x[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
	static const double y[] = {1.15, 0.88, 0.90, 0.74, 1.21};
	struct rank_test test;
	struct rank_shift shift;

	(void)state;
	assert_int_equal(rank_test(y, 5, x, 10, &test), 0);
	assert_near(test.u, 35, 1e-9);
	assert_near(test.probability, 0.2544, 5e-5);
	assert_near(test.superiority, 0.7, 1e-9);
	assert_int_equal(rank_shift(y, 5, x, 10, 0.05, &shift), 0);
	assert_near(shift.estimate, 0.305, 1e-9);
	assert_true(shift.interval.known);
	assert_near(shift.interval.low, -0.15, 1e-9);
	assert_near(shift.interval.high, 0.76, 1e-9);
}

/* All 252 ways to choose 5 of 10 with these ties, counted one by one. */
static void counts_ties_exactly(void **state)
{
	static const double a[] = {1, 2, 2, 3, 3}, b[] = {2, 3, 3, 4, 5};
	static const double twice_ranks[] = {2, 6, 6, 6, 13, 13, 13, 13, 18, 20};
	double far = 0, sum = 0, all = 0, mean = 5 * 11;
	struct rank_test test;

	(void)state;
	/* b has the third 2, two of the 3, and both last ones */
	far = fabs(6 + 13 + 13 + 18 + 20 - mean);
	for (unsigned int set = 0; set < 1 << 10; set++) {
		double twice = 0;

		if (__builtin_popcount(set) != 5)
			continue;
		for (int i = 0; i < 10; i++)
			twice += set & 1U << i ? twice_ranks[i] : 0;
		all++;
		sum += fabs(twice - mean) >= far - 1e-9;
	}
	assert_int_equal(rank_test(a, 5, b, 5, &test), 0);
	assert_near(test.probability, sum / all, 1e-12);
}

static void finds_no_difference_between_equal_values(void **state)
{
	static const double values[] = {7, 7, 7, 7, 7, 7};
	double many[60];
	struct rank_test test;
	struct rank_shift shift;

	(void)state;
	assert_int_equal(rank_test(values, 6, values, 6, &test), 0);
	assert_near(test.probability, 1, 1e-12);
	assert_near(test.superiority, 0.5, 1e-12);
	assert_int_equal(rank_shift(values, 6, values, 6, 0.05, &shift), 0);
	assert_near(shift.interval.low, 0, 0);
	assert_near(shift.interval.high, 0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = 7;
	assert_int_equal(rank_test(many, 60, many, 60, &test), 0);
	assert_false(test.exact);
	assert_near(test.probability, 1, 1e-12);
}

/* Just above the limit of exact probabilities the normal ones are close to them. */
static void large_samples_are_close_to_exact_ones(void **state)
{
	double a[21], b[21], exact;
	struct rank_test test;

	(void)state;
	exact = probability_of(20, 20, 130);
	make_samples(21, 21, 144, a, b); /* as far from the middle, in standard deviations */
	assert_int_equal(rank_test(a, 21, b, 21, &test), 0);
	assert_false(test.exact);
	assert_true(fabs(test.probability - exact) < 0.01);
}

static void says_that_three_values_have_no_interval(void **state)
{
	static const double a[] = {1, 2, 3}, b[] = {11, 12, 13}, c[] = {1, 2, 3, 4},
			    d[] = {11, 12, 13, 14};
	struct rank_shift shift;

	(void)state;
	assert_int_equal(rank_shift(a, 3, b, 3, 0.05, &shift), 0);
	assert_false(shift.interval.known);
	assert_near(shift.estimate, 10, 0);
	assert_int_equal(rank_shift(c, 4, d, 4, 0.05, &shift), 0);
	assert_true(shift.interval.known);
	assert_near(shift.interval.low, 7, 0);
	assert_near(shift.interval.high, 13, 0);
}

/* The least of all differences is one of them, and no more. */
static void a_shift_of_two_differences_is_between_them(void **state)
{
	static const double a[] = {0}, b[] = {1, 5};
	struct rank_shift shift;

	(void)state;
	assert_int_equal(rank_shift(a, 1, b, 2, 0.05, &shift), 0);
	assert_near(shift.estimate, 3, 0);
	assert_int_equal(rank_shift(b, 2, a, 1, 0.05, &shift), 0);
	assert_near(shift.estimate, -3, 0);
}

static int ascending(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Against all differences, one by one. */
static void a_shift_is_a_quantile_of_all_differences(void **state)
{
	uint64_t random = 7;
	struct rank_shift shift;

	(void)state;
	for (size_t round = 0; round < 50; round++) {
		double a[60], b[60], all[3600];
		size_t a_count = 1 + random_next(&random) % 60,
		       b_count = 1 + random_next(&random) % 60;
		size_t pairs = a_count * b_count;

		/* Ties as well. */
		for (size_t i = 0; i < 60; i++) {
			a[i] = (double)(random_next(&random) % (round % 2 ? 8 : 100000)) / 8;
			b[i] = (double)(random_next(&random) % (round % 2 ? 8 : 100000)) / 8 + 0.5;
		}
		for (size_t i = 0; i < pairs; i++)
			all[i] = b[i % b_count] - a[i / b_count];
		qsort(all, pairs, sizeof(*all), ascending);
		assert_int_equal(rank_shift(a, a_count, b, b_count, 0.05, &shift), 0);
		assert_near(shift.estimate, (all[(pairs - 1) / 2] + all[pairs / 2]) / 2, 1e-12);
		if (!shift.interval.known) {
			assert_near(shift.interval.low, all[0], 0);
			assert_near(shift.interval.high, all[pairs - 1], 0);
		}
		assert_true(shift.interval.low <= shift.estimate &&
			    shift.estimate <= shift.interval.high);
	}
}

/* All differences would be 200 GB. */
static void a_shift_of_many_values_takes_little_memory(void **state)
{
	size_t count = 160000;
	double *values = malloc(2 * count * sizeof(*values));
	struct rank_shift shift;

	(void)state;
	assert_non_null(values);
	for (size_t i = 0; i < count; i++) {
		values[i] = (double)(i * 7919 % count);
		values[count + i] = (double)(i * 104729 % count) + 1000;
	}
	assert_int_equal(rank_shift(values, count, values + count, count, 0.05, &shift), 0);
	assert_near(shift.estimate, 1000, 1);
	assert_true(shift.interval.low > 500 && shift.interval.high < 1500);
	free(values);
}

static void one_large_sample_makes_the_test_approximate(void **state)
{
	static const struct {
		size_t a, b;
		bool exact;
	} table[] = {{RANK_EXACT_MAX, RANK_EXACT_MAX, true},
		     {RANK_EXACT_MAX + 1, 3, false},
		     {3, RANK_EXACT_MAX + 1, false}};
	double values[2 * RANK_EXACT_MAX + 2];
	struct rank_test test;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = (double)i;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_int_equal(
			rank_test(values, table[i].a, values + table[i].a, table[i].b, &test), 0);
		assert_int_equal(test.exact, table[i].exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shift_of_two_differences_is_between_them),
		cmocka_unit_test(a_shift_is_a_quantile_of_all_differences),
		cmocka_unit_test(a_shift_of_many_values_takes_little_memory),
		cmocka_unit_test(agrees_with_the_published_critical_values),
		cmocka_unit_test(agrees_with_a_textbook_example),
		cmocka_unit_test(counts_ties_exactly),
		cmocka_unit_test(finds_no_difference_between_equal_values),
		cmocka_unit_test(large_samples_are_close_to_exact_ones),
		cmocka_unit_test(one_large_sample_makes_the_test_approximate),
		cmocka_unit_test(says_that_three_values_have_no_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
