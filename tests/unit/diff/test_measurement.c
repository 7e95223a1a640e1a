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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(values_of_a_slice_add_up),
		TEST(many_slices_are_merged_with_their_neighbours),
		TEST(slices_of_two_runs_are_never_one),
		TEST(few_slices_stay_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
