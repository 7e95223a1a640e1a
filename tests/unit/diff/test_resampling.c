// SPDX-License-Identifier: BSD-2-Clause
/* Tests for diff/resampling: errors of known scatter, shares, and deviations between runs. */
#include <math.h>

#include "diff/resampling.h"
#include "side_fixture.h"

#define SLICES 100

static struct sides sides;
static struct measurement *side;
static struct diff_key key, whole;

static int setup(void **state)
{
	(void)state;
	sides_init(&sides, 1U << PKBPF_PROFILE_CPU);
	side = &sides.items[DIFF_BASE];
	key = sides_key(&sides, PKBPF_PROFILE_CPU, DIFF_SELF, "parse");
	whole = (struct diff_key){PKBPF_PROFILE_CPU, DIFF_ALL_STACKS, 0};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sides_done(&sides);
	return 0;
}

static void add_slice(uint32_t run, uint64_t length_ns, double value, double of_all)
{
	sides_slice(&sides, DIFF_BASE, length_ns, run);
	sides_add(&sides, DIFF_BASE, key, value, 1);
	sides_add(&sides, DIFF_BASE, whole, of_all, 1);
}

static struct diff_estimate estimate(bool by_whole)
{
	struct resampling *resampling = resampling_new(side);
	struct diff_estimate result;

	assert_non_null(resampling);
	resampling_estimate(resampling, measurement_find(side, &key),
			    measurement_find(side, &whole), by_whole, &result);
	resampling_free(resampling);
	return result;
}

static void a_steady_load_has_no_error(void **state)
{
	struct diff_estimate result;

	(void)state;
	for (uint32_t i = 0; i < SLICES; i++)
		add_slice(0, NS_PER_SECOND, 3, 12);
	result = estimate(false);
	assert_float_equal(result.sum, 3 * SLICES, 1e-9);
	assert_float_equal(result.count, SLICES, 0);
	assert_float_equal(result.error, 0, 1e-9);
	assert_float_equal(result.share, 0.25, 1e-12);
	assert_float_equal(result.share_error, 0, 1e-9);
}

/* Of n independent values with this deviation a sum has sqrt(n) times it. */
static void the_error_of_a_sum_is_that_of_its_slices(void **state)
{
	struct diff_estimate result;
	uint64_t random = 12345;
	double squares = 0;

	(void)state;
	for (uint32_t i = 0; i < SLICES; i++) {
		double value;

		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		value = random >> 63 ? 90 : 110;
		squares += (value - 100) * (value - 100);
		add_slice(0, NS_PER_SECOND, value, 1000);
	}
	result = estimate(false);
	assert_float_equal(result.error, sqrt(squares), 0.35 * sqrt(squares));
	assert_true(result.freedom > 10 && result.freedom < SLICES);
	assert_float_equal(result.dependence, 0, 0);
}

/* Half as long has half as much, which is no scatter. */
static void slices_of_other_lengths_are_no_scatter(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < SLICES; i++)
		add_slice(0, (1 + i % 2) * NS_PER_SECOND, 10 * (1 + i % 2), 40 * (1 + i % 2));
	assert_true(estimate(false).error < 0.001 * estimate(false).sum);
}

/* What all of it does, such as a load that comes and goes, is not the function's own. */
static void a_share_that_stays_has_no_error_by_the_whole(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < SLICES; i++)
		add_slice(0, NS_PER_SECOND, i % 10 < 5 ? 10 : 30, i % 10 < 5 ? 20 : 60);
	assert_true(estimate(false).error > 0.02 * estimate(false).sum);
	assert_float_equal(estimate(true).error, 0, 1e-6);
	assert_float_equal(estimate(true).share, 0.5, 1e-12);
	/* Neighbours are alike. */
	assert_true(estimate(false).dependence > 0.3);
}

static void few_slices_have_no_scatter(void **state)
{
	struct resampling *resampling;

	(void)state;
	for (uint32_t i = 0; i < RESAMPLING_SLICES_MIN - 1; i++)
		add_slice(0, NS_PER_SECOND, i, 10);
	resampling = resampling_new(side);
	assert_int_equal(resampling_block(resampling), 0);
	resampling_free(resampling);
	assert_float_equal(estimate(false).error, 0, 0);
	add_slice(0, NS_PER_SECOND, 9, 10);
	resampling = resampling_new(side);
	assert_true(resampling_block(resampling) > 0);
	resampling_free(resampling);
	assert_true(estimate(false).error > 0);
	/* Of a second run there are too few again. */
	add_slice(1, NS_PER_SECOND, 9, 10);
	resampling = resampling_new(side);
	assert_int_equal(resampling_block(resampling), 0);
	resampling_free(resampling);
}

static void what_is_nowhere_is_zero(void **state)
{
	struct resampling *resampling;
	struct diff_estimate result;

	(void)state;
	add_slice(0, NS_PER_SECOND, 1, 1);
	resampling = resampling_new(side);
	resampling_estimate(resampling, NULL, measurement_find(side, &whole), false, &result);
	assert_float_equal(result.sum, 0, 0);
	assert_float_equal(result.share, 0, 0);
	resampling_free(resampling);
}

static void runs_deviate_from_their_mean(void **state)
{
	struct resampling *resampling;
	double squares = 0, freedom = 0;

	(void)state;
	/* 80, 100 and 120 in runs of which the last is twice as long. */
	add_slice(0, NS_PER_SECOND, 80, 1);
	add_slice(1, NS_PER_SECOND, 100, 1);
	add_slice(2, 2 * NS_PER_SECOND, 120, 1);
	resampling = resampling_new(side);
	resampling_between_runs(resampling, measurement_find(side, &key), false, &squares,
				&freedom);
	assert_float_equal(squares, 0.04 + 0 + 0.04, 1e-12);
	assert_float_equal(freedom, 2, 0);
	/* Per time 80, 100, 60. */
	squares = freedom = 0;
	resampling_between_runs(resampling, measurement_find(side, &key), true, &squares, &freedom);
	assert_float_equal(squares, 0 + 0.0625 + 0.0625, 1e-12);
	resampling_free(resampling);
}

static void one_run_says_nothing_of_others(void **state)
{
	struct resampling *resampling;
	double squares = 0, freedom = 0;

	(void)state;
	add_slice(0, NS_PER_SECOND, 80, 1);
	add_slice(0, NS_PER_SECOND, 100, 1);
	resampling = resampling_new(side);
	resampling_between_runs(resampling, measurement_find(side, &key), false, &squares,
				&freedom);
	assert_float_equal(squares, 0, 0);
	assert_float_equal(freedom, 0, 0);
	resampling_free(resampling);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_steady_load_has_no_error),
		TEST(the_error_of_a_sum_is_that_of_its_slices),
		TEST(slices_of_other_lengths_are_no_scatter),
		TEST(a_share_that_stays_has_no_error_by_the_whole),
		TEST(few_slices_have_no_scatter),
		TEST(what_is_nowhere_is_zero),
		TEST(runs_deviate_from_their_mean),
		TEST(one_run_says_nothing_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
