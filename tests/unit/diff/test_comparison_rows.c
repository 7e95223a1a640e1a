// SPDX-License-Identifier: BSD-2-Clause
/* Tests for diff/comparison: rows of known values, whose signs, units and order are known. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "side_fixture.h"

#define CPU    PKBPF_PROFILE_CPU
#define CPUS   (1U << PKBPF_PROFILE_CPU)
#define SLICES 20
#define SECOND ((struct diff_work){.per = DIFF_PER_SECOND})

static struct sides sides;

static int setup(void **state)
{
	(void)state;
	sides_init(&sides, CPUS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sides_done(&sides);
	return 0;
}

/* Slices of a second in which a process has so much CPU time, give or take a thousandth. */
static void fill(enum diff_side side, const char *name, double ns)
{
	for (uint32_t i = 0; i < SLICES; i++) {
		if (sides.items[side].slices.count < i + 1)
			sides_slice(&sides, side, NS_PER_SECOND, 0);
		if (ns > 0)
			assert_true(measurement_put(
				&sides.items[side],
				&(struct diff_key){CPU, DIFF_PROCESS,
						   string_pool_add(sides.names.texts, name)},
				i, ns * (i % 2 ? 1.001 : 0.999), 0));
	}
}

static const struct diff_row *process(const char *name)
{
	return sides_row(&sides, CPU, DIFF_PROCESS, name);
}

static void growth_is_positive_and_shrinking_negative(void **state)
{
	const struct diff_row *row;

	(void)state;
	fill(DIFF_BASE, "grew", 100 * MS);
	fill(DIFF_NEW, "grew", 150 * MS);
	fill(DIFF_BASE, "shrank", 100 * MS);
	fill(DIFF_NEW, "shrank", 60 * MS);
	fill(DIFF_BASE, "same", 100 * MS);
	fill(DIFF_NEW, "same", 100 * MS);
	assert_int_equal(sides_compare(&sides, SECOND), 0);
	row = process("grew");
	assert_int_equal(row->verdict, DIFF_GREW);
	assert_float_equal(row->change, 50 * MS, 1);
	assert_float_equal(row->ratio, 0.5, 1e-9);
	assert_true(row->ratio_low > 0 && row->ratio_low < 0.5 && row->ratio_high > 0.5);
	assert_true(row->low > 0 && row->low < row->change && row->high > row->change);
	row = process("shrank");
	assert_int_equal(row->verdict, DIFF_SHRANK);
	assert_float_equal(row->change, -40 * MS, 1);
	assert_float_equal(row->ratio, -0.4, 1e-9);
	assert_true(row->ratio_high < 0 && row->ratio_low < -0.4);
	row = process("same");
	assert_int_equal(row->verdict, DIFF_SAME);
	assert_float_equal(row->change, 0, 1);
	assert_true(row->probability > 0.5);
	assert_false(diff_is_significant(row));
}

/* What was in all slices is in two, which says little of its mean: a symmetric interval around
 * -90 % reaches beyond -100 %. */
static void no_interval_reaches_below_all_of_it(void **state)
{
	const struct diff_row *row;

	(void)state;
	fill(DIFF_BASE, "app", 100 * MS);
	fill(DIFF_NEW, "other", 100 * MS);
	for (uint32_t i = 3; i < SLICES; i += 10)
		assert_true(measurement_put(
			&sides.items[DIFF_NEW],
			&(struct diff_key){CPU, DIFF_PROCESS,
					   string_pool_add(sides.names.texts, "app")},
			i, 100 * MS, 0));
	assert_int_equal(sides_compare(&sides, SECOND), 0);
	row = process("app");
	assert_float_equal(row->ratio, -0.9, 1e-9);
	assert_true(row->sides[DIFF_NEW].error > 0.3 * row->sides[DIFF_NEW].value);
	assert_float_equal(row->ratio_low, -1, 1e-9);
	assert_float_equal(row->low, -100 * MS, 1);
	assert_true(row->ratio_high > -0.9);
}

static void what_comes_and_goes_is_told_from_what_changes(void **state)
{
	(void)state;
	fill(DIFF_BASE, "gone", 100 * MS);
	fill(DIFF_NEW, "gone", 0);
	fill(DIFF_NEW, "new", 100 * MS);
	assert_int_equal(sides_compare(&sides, SECOND), 0);
	assert_int_equal(process("new")->verdict, DIFF_APPEARED);
	assert_false(process("new")->has_ratio);
	assert_float_equal(process("new")->change, 100 * MS, 1);
	assert_int_equal(process("gone")->verdict, DIFF_VANISHED);
	assert_float_equal(process("gone")->change, -100 * MS, 1);
	assert_float_equal(process("gone")->ratio, -1, 1e-9);
}

static void values_are_per_second_run_or_work(void **state)
{
	static const struct {
		struct diff_work work;
		double base, new;
	} rows[] = {
		{{.per = DIFF_PER_SECOND}, 100 * MS, 200 * MS},
		/* Of two runs and one. */
		{{.per = DIFF_PER_RUN}, 1000 * MS, 2000 * MS},
		{{.per = DIFF_PER_WORK, .name = "requests", .base = 50, .new = 400},
		 40 * MS,
		 5 * MS},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct diff_key key;

		if (i)
			setup(state);
		key = sides_key(&sides, CPU, DIFF_PROCESS, "app");
		/* Twenty seconds in two runs with 2 s, and five of two seconds with 2 s. */
		for (uint32_t slice = 0; slice < 20; slice++) {
			sides_slice(&sides, DIFF_BASE, NS_PER_SECOND, slice / 10);
			sides_add(&sides, DIFF_BASE, key, 100 * MS, 0);
		}
		for (uint32_t slice = 0; slice < 5; slice++) {
			sides_slice(&sides, DIFF_NEW, 2 * NS_PER_SECOND, 0);
			sides_add(&sides, DIFF_NEW, key, 400 * MS, 0);
		}
		assert_int_equal(sides_compare(&sides, rows[i].work), 0);
		assert_float_equal(process("app")->sides[DIFF_BASE].value, rows[i].base, 1);
		assert_float_equal(process("app")->sides[DIFF_NEW].value, rows[i].new, 1);
		if (i + 1 < sizeof(rows) / sizeof(*rows))
			teardown(state);
	}
}

/* Memory that lives is no sum: of twice as long it is not twice as much. */
static void levels_are_means_over_time_whatever_work_was_done(void **state)
{
	struct diff_key key;

	sides_done(&sides);
	sides_init(&sides, 1U << PKBPF_PROFILE_LIVE);
	key = sides_key(&sides, PKBPF_PROFILE_LIVE, DIFF_PROCESS, "app");
	(void)state;
	for (int i = 0; i < 6; i++) {
		sides_slice(&sides, DIFF_BASE, NS_PER_SECOND, 0);
		sides_add(&sides, DIFF_BASE, key, 1000, 0);
	}
	for (int i = 0; i < 12; i++) {
		sides_slice(&sides, DIFF_NEW, 3 * NS_PER_SECOND, 0);
		sides_add(&sides, DIFF_NEW, key, i % 2 ? 500 : 1500, 0);
	}
	assert_int_equal(sides_compare(&sides, (struct diff_work){.per = DIFF_PER_RUN}), 0);
	assert_float_equal(
		sides_row(&sides, PKBPF_PROFILE_LIVE, DIFF_PROCESS, "app")->sides[DIFF_BASE].value,
		1000, 1e-6);
	assert_float_equal(
		sides_row(&sides, PKBPF_PROFILE_LIVE, DIFF_PROCESS, "app")->sides[DIFF_NEW].value,
		1000, 1e-6);
}

static void significant_rows_come_first_and_the_largest_before_others(void **state)
{
	static const char *const order[] = {"more", "less", "little", "same"};
	size_t i = 0;

	(void)state;
	fill(DIFF_BASE, "same", 500 * MS);
	fill(DIFF_NEW, "same", 500.2 * MS);
	fill(DIFF_BASE, "little", 100 * MS);
	fill(DIFF_NEW, "little", 130 * MS);
	fill(DIFF_BASE, "more", 100 * MS);
	fill(DIFF_NEW, "more", 300 * MS);
	fill(DIFF_BASE, "less", 150 * MS);
	fill(DIFF_NEW, "less", 50 * MS);
	assert_int_equal(sides_compare(&sides, SECOND), 0);
	array_foreach(&sides.comparison.rows, row)
		assert_string_equal(diff_row_name(&sides.comparison, row), order[i++]);
	assert_int_equal(i, 4);
}

static void all_rows_share_one_risk_by_their_size(void **state)
{
	double sum = 0;

	(void)state;
	fill(DIFF_BASE, "large", 900 * MS);
	fill(DIFF_NEW, "large", 900 * MS);
	fill(DIFF_BASE, "small", 100 * MS);
	fill(DIFF_NEW, "small", 100 * MS);
	assert_int_equal(sides_compare(&sides, SECOND), 0);
	array_foreach(&sides.comparison.rows, row)
		sum += row->risk;
	/* Of the level of processes, a tenth of all; a fifth of it is shared out evenly. */
	assert_float_equal(sum, DIFF_RISK * 0.1, 1e-9);
	assert_float_equal(process("large")->risk, DIFF_RISK * 0.1 * (0.8 * 0.9 + 0.2 / 2), 1e-9);
	assert_float_equal(process("small")->risk, DIFF_RISK * 0.1 * (0.8 * 0.1 + 0.2 / 2), 1e-9);
}

static void without_slices_only_samples_are_judged(void **state)
{
	struct diff_key counted = sides_key(&sides, CPU, DIFF_PROCESS, "counted");
	struct diff_key sampled = sides_key(&sides, CPU, DIFF_SELF, "sampled");

	(void)state;
	for (int side = 0; side < DIFF_SIDES; side++) {
		sides.items[side].sampled_mask = CPUS;
		sides_slice(&sides, (enum diff_side)side, NS_PER_SECOND, 0);
		sides_add(&sides, (enum diff_side)side, counted, (side + 1) * 100 * MS, 0);
		sides_add(&sides, (enum diff_side)side, sampled, (side + 1) * 100 * MS,
			  (side + 1) * 100);
	}
	assert_int_equal(sides_compare(&sides, SECOND), 0);
	assert_int_equal(process("counted")->evidence, DIFF_BY_NOTHING);
	assert_int_equal(process("counted")->verdict, DIFF_UNJUDGED);
	assert_false(diff_is_significant(process("counted")));
	/* What it is is known all the same. */
	assert_float_equal(process("counted")->ratio, 1, 1e-9);
	assert_int_equal(sides_row(&sides, CPU, DIFF_SELF, "sampled")->evidence, DIFF_BY_SAMPLING);
	assert_int_equal(sides_row(&sides, CPU, DIFF_SELF, "sampled")->verdict, DIFF_GREW);
}

/* Four runs that are alike to a thousandth: what is certain may still be too small. */
static void a_change_below_one_percent_is_none(void **state)
{
	static const struct {
		double factor;
		enum diff_verdict verdict;
	} rows[] = {
		{1.008, DIFF_SAME}, {0.992, DIFF_SAME}, {1.015, DIFF_GREW}, {0.985, DIFF_SHRANK}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct diff_key key;

		if (i)
			setup(state);
		key = sides_key(&sides, CPU, DIFF_PROCESS, "app");
		for (int side = 0; side < DIFF_SIDES; side++)
			for (uint32_t slice = 0; slice < 80; slice++) {
				sides_slice(&sides, (enum diff_side)side, NS_PER_SECOND,
					    slice / 20);
				sides_add(&sides, (enum diff_side)side, key,
					  (side ? rows[i].factor : 1) *
						  (100 + 0.1 * ((double)(slice * 7 % 5) - 2)) * MS,
					  0);
			}
		assert_int_equal(sides_compare(&sides, (struct diff_work){.per = DIFF_PER_RUN}), 0);
		assert_true(process("app")->probability < process("app")->risk);
		assert_int_equal(process("app")->verdict, rows[i].verdict);
		if (i + 1 < sizeof(rows) / sizeof(*rows))
			teardown(state);
	}
}

/* Page faults of a program that does the same each time. */
static void runs_without_any_scatter_are_certain(void **state)
{
	static const struct {
		double new;
		enum diff_verdict verdict;
	} rows[] = {{2000, DIFF_GREW}, {500, DIFF_SHRANK}, {1000, DIFF_SAME}, {1005, DIFF_SAME}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct diff_key key;

		if (i)
			setup(state);
		key = sides_key(&sides, CPU, DIFF_PROCESS, "app");
		for (int side = 0; side < DIFF_SIDES; side++)
			for (uint32_t slice = 0; slice < 20; slice++) {
				sides_slice(&sides, (enum diff_side)side, NS_PER_SECOND,
					    slice / 10);
				sides_add(&sides, (enum diff_side)side, key,
					  side ? rows[i].new : 1000, 0);
			}
		assert_int_equal(sides_compare(&sides, (struct diff_work){.per = DIFF_PER_RUN}), 0);
		assert_int_equal(process("app")->verdict, rows[i].verdict);
		assert_float_equal(process("app")->ratio_low, rows[i].new / 1000 - 1, 1e-6);
		assert_float_equal(process("app")->high, 10 * (rows[i].new - 1000), 1e-2);
		if (i + 1 < sizeof(rows) / sizeof(*rows))
			teardown(state);
	}
}

static void what_one_side_cannot_have_is_no_news(void **state)
{
	struct diff_key function;

	(void)state;
	fill(DIFF_BASE, "app", 100 * MS);
	fill(DIFF_NEW, "app", 100 * MS);
	function = sides_key(&sides, CPU, DIFF_SELF, "parse");
	sides_add(&sides, DIFF_NEW, function, 50 * MS, 5);
	assert_int_equal(sides_compare(&sides, SECOND), 0);
	assert_null(comparison_find(&sides.comparison, &function));
	assert_int_equal(sides.comparison.rows.count, 1);
}

static void sides_without_a_kind_in_common_are_refused(void **state)
{
	(void)state;
	fill(DIFF_BASE, "app", 100 * MS);
	fill(DIFF_NEW, "app", 100 * MS);
	sides.items[DIFF_NEW].kinds_mask = 1U << PKBPF_PROFILE_FAULTS;
	assert_int_equal(sides_compare(&sides, SECOND), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(growth_is_positive_and_shrinking_negative),
		TEST(no_interval_reaches_below_all_of_it),
		TEST(what_comes_and_goes_is_told_from_what_changes),
		TEST(values_are_per_second_run_or_work),
		TEST(levels_are_means_over_time_whatever_work_was_done),
		TEST(significant_rows_come_first_and_the_largest_before_others),
		TEST(all_rows_share_one_risk_by_their_size),
		TEST(without_slices_only_samples_are_judged),
		TEST(a_change_below_one_percent_is_none),
		TEST(runs_without_any_scatter_are_certain),
		TEST(what_one_side_cannot_have_is_no_news),
		TEST(sides_without_a_kind_in_common_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
