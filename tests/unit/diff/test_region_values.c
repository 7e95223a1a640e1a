// SPDX-License-Identifier: BSD-2-Clause
/* Tests for diff/region_values: means and percentiles of regions whose calls are known one by one,
 * and what of a change is more than their scatter. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "diff/baseline.h"
#include "diff/diff_condition.h"
#include "diff/diff_words.h"
#include "diff/measure_regions.h"
#include "diff/region_values.h"
#include "side_fixture.h"
#include "statistics/random.h"

#define CALLS	PKBPF_PROFILE_CALLS
#define SLICES	20
#define RUN	((struct diff_work){.per = DIFF_PER_RUN})
#define OF_EACH 100

static struct sides sides;

static int setup(void **state)
{
	(void)state;
	sides_init(&sides, 1U << CALLS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sides_done(&sides);
	return 0;
}

static void add_calls(enum diff_side side, const char *name, double value, double calls)
{
	char bucket[REGION_BUCKET_SIZE];

	region_bucket_name(bucket, pkbpf_histogram_index((uint64_t)value), name);
	sides_add(&sides, side, sides_key(&sides, CALLS, DIFF_REGION_BUCKET, bucket), calls, 0);
}

/* A run of 100 calls in each slice: of every hundred, 98 take ns give or take a tenth, two take
 * ten times as long. factor: of all times of this run. */
static void fill(enum diff_side side, const char *name, uint32_t run, double ns, double factor)
{
	uint64_t state = 7 + (unsigned int)side + 31 * run;

	for (uint32_t slice = 0; slice < SLICES; slice++) {
		double sum = 0;

		sides_slice(&sides, side, NS_PER_SECOND, run);
		for (int i = 0; i < OF_EACH; i++) {
			double part = (double)(random_next(&state) % 2001) / 10000 + 0.9;
			double value = factor * ns * part * (i >= 98 ? 10 : 1);

			sum += value;
			add_calls(side, name, value, 1);
		}
		assert_true(measure_region(
			&sides.items[side],
			&(struct region_figures){name, sum, OF_EACH, OF_EACH, false}));
	}
}

static const struct diff_row *row(enum diff_level level)
{
	return sides_row(&sides, CALLS, level, "step");
}

static void values_are_those_of_the_calls(void **state)
{
	(void)state;
	fill(DIFF_BASE, "step", 0, MS, 1);
	fill(DIFF_NEW, "step", 0, MS, 1);
	assert_int_equal(sides_compare(&sides, RUN), 0);
	assert_float_equal(row(DIFF_REGION_COUNT)->sides[DIFF_BASE].value, SLICES * OF_EACH, 1e-6);
	assert_float_equal(row(DIFF_REGION_TIME)->sides[DIFF_BASE].value,
			   SLICES * (98 + 2 * 10) * MS, 0.01 * SLICES * OF_EACH * MS);
	assert_float_equal(row(DIFF_REGION_MEAN)->sides[DIFF_BASE].value, 1.18 * MS, 0.02 * MS);
	assert_float_equal(row(DIFF_REGION_MEAN)->sides[DIFF_BASE].share, 0, 0);
	assert_float_equal(row(DIFF_REGION_MEAN)->sides[DIFF_BASE].share_error, 0, 0);
	assert_float_equal(row(DIFF_REGION_P50)->sides[DIFF_BASE].value, MS, 0.032 * MS);
	assert_float_equal(row(DIFF_REGION_P99)->sides[DIFF_BASE].value, 10 * MS, 0.5 * MS);
	for (int level = DIFF_REGION_TIME; level <= DIFF_REGION_P99; level++)
		assert_int_equal(row((enum diff_level)level)->verdict, DIFF_SAME);
}

static void a_slower_region_is_found_in_all_but_its_count(void **state)
{
	static const enum diff_level slower[] = {DIFF_REGION_TIME, DIFF_REGION_MEAN,
						 DIFF_REGION_P50, DIFF_REGION_P99};

	(void)state;
	fill(DIFF_BASE, "step", 0, MS, 1);
	fill(DIFF_NEW, "step", 0, MS, 1.5);
	assert_int_equal(sides_compare(&sides, RUN), 0);
	for (size_t i = 0; i < ARRAY_SIZE(slower); i++) {
		assert_int_equal(row(slower[i])->verdict, DIFF_GREW);
		assert_float_equal(row(slower[i])->ratio, 0.5, 0.06);
		assert_true(row(slower[i])->ratio_low < 0.5 && row(slower[i])->ratio_high > 0.5);
	}
	assert_int_equal(row(DIFF_REGION_COUNT)->verdict, DIFF_SAME);
}

/* Runs differ by 20 %: that one side's are 10 % slower in the mean is no news. */
static void what_runs_differ_by_is_no_change(void **state)
{
	static const double base[] = {0.9, 1.1, 0.9, 1.1}, new[] = {1.0, 1.2, 1.0, 1.2};

	(void)state;
	for (uint32_t run = 0; run < 4; run++) {
		fill(DIFF_BASE, "step", run, MS, base[run]);
		fill(DIFF_NEW, "step", run, MS, new[run]);
	}
	assert_int_equal(sides_compare(&sides, RUN), 0);
	for (int level = DIFF_REGION_TIME; level <= DIFF_REGION_P99; level++)
		assert_int_equal(row((enum diff_level)level)->verdict, DIFF_SAME);
}

static struct diff_condition_result check(const char *text)
{
	struct diff_condition_result result;
	struct diff_condition condition;
	struct error error;

	assert_int_equal(diff_condition_parse(text, &condition, &error), 0);
	diff_condition_check(&condition, text, &sides.comparison, &result);
	return result;
}

static enum diff_condition_outcome outcome_of(const char *text)
{
	return check(text).outcome;
}

static void conditions_name_figures_of_regions(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 2; run++) {
		fill(DIFF_BASE, "step", run, MS, 1);
		fill(DIFF_NEW, "step", run, MS, 1.5);
	}
	assert_int_equal(sides_compare(&sides, RUN), 0);
	assert_int_equal(outcome_of("region[step].mean>+20%"), DIFF_CONDITION_HELD);
	assert_int_equal(outcome_of("region[step].p99 > +20 %"), DIFF_CONDITION_HELD);
	assert_int_equal(outcome_of("region[*].total>+20%"), DIFF_CONDITION_HELD);
	assert_int_equal(outcome_of("region[step].p50>+80%"), DIFF_CONDITION_PASSED);
	assert_int_equal(outcome_of("region[step].count>+1%"), DIFF_CONDITION_PASSED);
	assert_int_equal(outcome_of("region[stop].mean>+20%"), DIFF_CONDITION_ABSENT);
	assert_int_equal(outcome_of("?region[stop].mean>+20%"), DIFF_CONDITION_PASSED);
}

/* Sums are per unit of work; what a call takes is not. */
static void conditions_say_per_what_a_figure_is(void **state)
{
	(void)state;
	fill(DIFF_BASE, "step", 0, MS, 1);
	fill(DIFF_NEW, "step", 0, MS, 1.5);
	assert_int_equal(sides_compare(&sides, RUN), 0);
	assert_non_null(strstr(check("region[step].total>+20%").sentence, " per run, +"));
	assert_null(strstr(check("region[step].mean>+20%").sentence, "per"));
	assert_null(strstr(check("region[step].p50>+20%").sentence, "per"));
}

static void one_value_a_side_is_not_judged(void **state)
{
	(void)state;
	for (int side = 0; side < DIFF_SIDES; side++) {
		sides_slice(&sides, (enum diff_side)side, NS_PER_SECOND, 0);
		assert_true(measure_region(
			&sides.items[side],
			&(struct region_figures){"step", (side + 1) * 90 * MS, 9, 9, false}));
	}
	assert_int_equal(sides_compare(&sides, RUN), 0);
	assert_int_equal(row(DIFF_REGION_MEAN)->verdict, DIFF_UNJUDGED);
	assert_float_equal(row(DIFF_REGION_MEAN)->ratio, 1, 1e-9);
	assert_int_equal(outcome_of("region[step].mean>+20%"), DIFF_CONDITION_UNJUDGED);
}

static void a_function_that_was_let_go_has_no_figures(void **state)
{
	char notes[DIFF_NOTES_MAX][512];
	size_t count;

	(void)state;
	fill(DIFF_BASE, "step", 0, MS, 1);
	fill(DIFF_NEW, "step", 0, MS, 1);
	for (int side = 0; side < DIFF_SIDES; side++)
		assert_true(measure_region(&sides.items[side],
					   &(struct region_figures){"f", 5, 5, 5, side == 0}));
	assert_int_equal(sides_compare(&sides, RUN), 0);
	for (uint32_t level = 0; level < DIFF_LEVELS; level++) {
		struct diff_key key = sides_key(&sides, CALLS, (enum diff_level)level, "f");

		assert_null(comparison_find(&sides.comparison, &key));
	}
	count = diff_words_notes(&sides.comparison, notes);
	assert_non_null(strstr(notes[count - 1], "Not compared: 1 function with missing calls"));
}

static void long_names_have_percentiles(void **state)
{
	char name[2000];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	fill(DIFF_BASE, name, 0, MS, 1);
	fill(DIFF_NEW, name, 0, MS, 1);
	assert_int_equal(sides_compare(&sides, RUN), 0);
	name[REGION_NAME_SIZE - 1] = '\0';
	assert_float_equal(sides_row(&sides, CALLS, DIFF_REGION_P50, name)->sides[DIFF_BASE].value,
			   MS, 0.032 * MS);
}

/* Would be a second row of the same key. */
static void a_baseline_with_what_a_comparison_derives_is_refused(void **state)
{
	static const struct {
		uint32_t kind;
		enum diff_level level;
	} refused[] = {{CALLS, DIFF_REGION_MEAN},
		       {CALLS, DIFF_REGION_P99},
		       {PKBPF_PROFILE_CPU, DIFF_REGION_TIME}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct measurement measurement, read;
		char *bytes = NULL;
		size_t size;
		FILE *out = open_memstream(&bytes, &size);

		measurement_init(&measurement, &sides.names);
		assert_true(measurement_begin_slice(&measurement, &(struct diff_slice){0}));
		assert_true(measurement_put(
			&measurement,
			&(struct diff_key){refused[i].kind, refused[i].level,
					   string_pool_add(sides.names.texts, "step")},
			0, 5, 0));
		assert_int_equal(baseline_write(&measurement, out), 0);
		assert_int_equal(fclose(out), 0);
		measurement_init(&read, &sides.names);
		assert_int_equal(baseline_read(&read, bytes, size, NULL), -EBADMSG);
		measurement_done(&read);
		measurement_done(&measurement);
		free(bytes);
	}
}

static void a_baseline_keeps_distributions(void **state)
{
	struct measurement read;
	double p99;
	char *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	(void)state;
	fill(DIFF_BASE, "step", 0, MS, 1);
	fill(DIFF_NEW, "step", 0, MS, 1);
	assert_int_equal(sides_compare(&sides, RUN), 0);
	p99 = row(DIFF_REGION_P99)->sides[DIFF_BASE].value;
	assert_int_equal(baseline_write(&sides.items[DIFF_BASE], out), 0);
	assert_int_equal(fclose(out), 0);
	measurement_init(&read, &sides.names);
	assert_int_equal(baseline_read(&read, bytes, size, NULL), 0);
	comparison_done(&sides.comparison);
	assert_int_equal(
		comparison_init(&sides.comparison, &read, &sides.items[DIFF_NEW], &RUN, NULL), 0);
	assert_float_equal(row(DIFF_REGION_P99)->sides[DIFF_BASE].value, p99, 1e-6);
	measurement_done(&read);
	free(bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(values_are_those_of_the_calls),
		TEST(a_slower_region_is_found_in_all_but_its_count),
		TEST(what_runs_differ_by_is_no_change),
		TEST(conditions_name_figures_of_regions),
		TEST(conditions_say_per_what_a_figure_is),
		TEST(one_value_a_side_is_not_judged),
		TEST(a_function_that_was_let_go_has_no_figures),
		TEST(long_names_have_percentiles),
		TEST(a_baseline_keeps_distributions),
		TEST(a_baseline_with_what_a_comparison_derives_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
