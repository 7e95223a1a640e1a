// SPDX-License-Identifier: BSD-2-Clause
/* Tests for diff/measurement: values by slice, and neighbours that become one. */
#include "side_fixture.h"

static struct sides sides;
static struct measurement *side;
static struct diff_key key;

static int setup(void **state)
{
	(void)state;
	sides_init(&sides, 1U << PKBPF_PROFILE_CPU);
	side = &sides.items[DIFF_BASE];
	key = sides_key(&sides, PKBPF_PROFILE_CPU, DIFF_SELF, "parse");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sides_done(&sides);
	return 0;
}

static void values_of_a_slice_add_up(void **state)
{
	const struct diff_series *series;
	struct diff_key other = key;

	(void)state;
	assert_null(measurement_find(side, &key));
	sides_slice(&sides, DIFF_BASE, NS_PER_SECOND, 0);
	sides_add(&sides, DIFF_BASE, key, 5, 1);
	sides_add(&sides, DIFF_BASE, key, 7, 2);
	sides_slice(&sides, DIFF_BASE, NS_PER_SECOND, 0);
	sides_slice(&sides, DIFF_BASE, NS_PER_SECOND, 0);
	sides_add(&sides, DIFF_BASE, key, 11, 4);
	series = measurement_find(side, &key);
	assert_int_equal(series->values.count, 2);
	assert_int_equal(series->values.items[0].slice, 0);
	assert_float_equal(series->values.items[0].value, 12, 0);
	assert_float_equal(series->values.items[0].count, 3, 0);
	assert_int_equal(series->values.items[1].slice, 2);
	assert_float_equal(series->values.items[1].value, 11, 0);
	assert_true(side->has_level[DIFF_SELF]);
	assert_false(side->has_level[DIFF_TOTAL]);
	other.level = DIFF_TOTAL;
	assert_null(measurement_find(side, &other));
	other = key;
	other.kind = PKBPF_PROFILE_OFFCPU;
	assert_null(measurement_find(side, &other));
	assert_int_equal(measurement_length_ns(side), 3 * NS_PER_SECOND);
}

static void many_slices_are_merged_with_their_neighbours(void **state)
{
	const struct diff_series *series;
	double sum = 0;

	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		sides_slice(&sides, DIFF_BASE, NS_PER_SECOND / 2, 0);
		sides_add(&sides, DIFF_BASE, key, i, 1);
	}
	measurement_finish(side);
	assert_int_equal(side->slices.count, 100);
	assert_int_equal(measurement_length_ns(side), 150 * NS_PER_SECOND);
	assert_int_equal(side->slices.items[99].length_ns, 3 * NS_PER_SECOND / 2);
	series = measurement_find(side, &key);
	assert_int_equal(series->values.count, 100);
	assert_float_equal(series->values.items[1].value, 3 + 4 + 5, 0);
	array_foreach(&series->values, value)
		sum += value->value;
	assert_float_equal(sum, 299.0 * 300 / 2, 0);
}

static void slices_of_two_runs_are_never_one(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 301; i++)
		sides_slice(&sides, DIFF_BASE, NS_PER_SECOND, i >= 100);
	measurement_finish(side);
	assert_int_equal(side->run_count, 2);
	/* 34 of three of the first run, whose last has one, and 67 of the second. */
	assert_int_equal(side->slices.count, 34 + 67);
	assert_int_equal(side->slices.items[33].run, 0);
	assert_int_equal(side->slices.items[33].length_ns, NS_PER_SECOND);
	assert_int_equal(side->slices.items[34].run, 1);
	assert_int_equal(side->slices.items[34].length_ns, 3 * NS_PER_SECOND);
}

static void few_slices_stay_as_they_are(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MEASUREMENT_SLICES_MAX; i++)
		sides_slice(&sides, DIFF_BASE, NS_PER_SECOND, 0);
	measurement_finish(side);
	assert_int_equal(side->slices.count, MEASUREMENT_SLICES_MAX);
	sides_slice(&sides, DIFF_BASE, NS_PER_SECOND, 0);
	measurement_finish(side);
	assert_int_equal(side->slices.count, MEASUREMENT_SLICES_MAX / 2 + 1);
}

/* Adds a slice with an account of CPU time, and two functions with samples of 10 each. */
static void add_sampled(double all, double all_count, double first, double second)
{
	struct diff_key whole = {PKBPF_PROFILE_CPU, DIFF_ALL, 0};
	struct diff_key stacks = {PKBPF_PROFILE_CPU, DIFF_ALL_STACKS, 0};
	struct diff_key one = {PKBPF_PROFILE_CPU, DIFF_SELF, 1};
	struct diff_key two = {PKBPF_PROFILE_CPU, DIFF_TOTAL, 2};

	sides_slice(&sides, DIFF_BASE, NS_PER_SECOND, 0);
	sides_add(&sides, DIFF_BASE, whole, all, all_count);
	sides_add(&sides, DIFF_BASE, stacks, first + second, (first + second) / 10);
	sides_add(&sides, DIFF_BASE, one, first, first / 10);
	sides_add(&sides, DIFF_BASE, two, second, second / 10);
}

static double sum_of_level(enum diff_level level, uint32_t name)
{
	struct diff_key wanted = {PKBPF_PROFILE_CPU, level, name};
	const struct diff_series *series = measurement_find(side, &wanted);
	double sum = 0;

	array_foreach(&series->values, value)
		sum += value->value;
	return sum;
}

static void functions_have_their_share_of_the_time_that_the_kernel_counted(void **state)
{
	(void)state;
	add_sampled(70, 0, 90, 30);
	add_sampled(110, 0, 90, 30);
	measurement_finish(side);
	assert_float_equal(sum_of_level(DIFF_ALL, 0), 180, 0);
	assert_float_equal(sum_of_level(DIFF_ALL_STACKS, 0), 180, 1e-9);
	assert_float_equal(sum_of_level(DIFF_SELF, 1), 135, 1e-9);
	assert_float_equal(sum_of_level(DIFF_TOTAL, 2), 45, 1e-9);
}

static void samples_that_are_missing_by_more_than_chance_stay_missing(void **state)
{
	(void)state;
	/* 16 samples of 10 may be 320 by chance, at most. */
	add_sampled(321, 0, 130, 30);
	measurement_finish(side);
	assert_float_equal(sum_of_level(DIFF_SELF, 1), 130, 0);
	add_sampled(160, 0, 130, 30);
	measurement_finish(side);
	assert_float_equal(sum_of_level(DIFF_SELF, 1), 260 * 481 / 320.0, 1e-9);
}

static void an_account_made_of_samples_changes_nothing(void **state)
{
	(void)state;
	add_sampled(90, 9, 90, 30);
	measurement_finish(side);
	assert_float_equal(sum_of_level(DIFF_SELF, 1), 90, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(values_of_a_slice_add_up),
		TEST(functions_have_their_share_of_the_time_that_the_kernel_counted),
		TEST(samples_that_are_missing_by_more_than_chance_stay_missing),
		TEST(an_account_made_of_samples_changes_nothing),
		TEST(many_slices_are_merged_with_their_neighbours),
		TEST(slices_of_two_runs_are_never_one),
		TEST(few_slices_stay_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
