// SPDX-License-Identifier: BSD-2-Clause
/* Tests for bench/bench_tradeoff: which of several commands are worth a choice. */
#include "bench/bench_tradeoff.h"
#include "paper_bench.h"

static struct bench bench;

/* Of a variant: medians, and how far runs scatter. */
static void add(const char *value, double wall, double rss, double accuracy, double scatter)
{
	uint32_t number = (uint32_t)bench.variants.count;
	struct bench_variant *variant = bench_add_variant(&bench, value);

	assert_non_null(variant);
	assert_true(bench_add_parameter(variant, "batch", value));
	for (int i = -4; i <= 4; i++) {
		struct bench_run *run = paper_run(&bench, number, wall * (1 + scatter * i));

		bench_run_set(run, BENCH_PEAK_RSS, rss);
		bench_run_set(run, BENCH_COLUMN, accuracy);
	}
}

static int setup(void **state)
{
	(void)state;
	bench_init(&bench);
	assert_true(bench_add_column(&bench, "accuracy", BENCH_BETTER_HIGHER));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bench_done(&bench);
	return 0;
}

static void only_what_nothing_beats_is_worth_a_choice(void **state)
{
	struct bench_tradeoff tradeoff;
	char text[1024];

	(void)state;
	add("8", 4e8, 10 << 20, 0.90, 0.001);  /* least memory */
	add("16", 3e8, 20 << 20, 0.90, 0.001); /* least time */
	add("32", 5e8, 30 << 20, 0.95, 0.001); /* most accurate */
	add("64", 6e8, 40 << 20, 0.95, 0.001); /* beaten by 32 */
	assert_int_equal(bench_tradeoff_find(&bench, &tradeoff), 0);
	assert_int_equal(tradeoff.goal_count, 3);
	assert_int_equal(tradeoff.goals[0].best, 1);
	assert_int_equal(tradeoff.goals[1].best, 0);
	assert_int_equal(tradeoff.goals[2].best, 2);
	assert_true(tradeoff.is_chosen[0] && tradeoff.is_chosen[1] && tradeoff.is_chosen[2]);
	assert_false(tradeoff.is_chosen[3]);
	bench_tradeoff_text(&bench, text, sizeof(text));
	assert_string_equal(text,
			    "best wall: 2 (batch=16) with 300 ms, peak RSS: 1 (batch=8) with "
			    "10.0 MiB, accuracy: 3 (batch=32) with 0.95; each of the others is no "
			    "better in any of these, and worse in one, than one of 1 (batch=8), 2 "
			    "(batch=16), 3 (batch=32)");
}

static void a_difference_within_the_scatter_beats_nothing(void **state)
{
	struct bench_tradeoff tradeoff;
	char text[1024];

	(void)state;
	add("8", 4.0e8, 10 << 20, 0.9, 0.05);
	add("16", 4.1e8, 10 << 20, 0.9, 0.05);
	assert_int_equal(bench_tradeoff_find(&bench, &tradeoff), 0);
	assert_true(tradeoff.is_chosen[0] && tradeoff.is_chosen[1]);
	bench_tradeoff_text(&bench, text, sizeof(text));
	assert_non_null(strstr(text, "; none beats another in all of these"));
}

static void one_command_or_one_without_runs_has_none(void **state)
{
	struct bench_tradeoff tradeoff;
	char text[64] = "x";

	(void)state;
	add("8", 4e8, 10 << 20, 0.9, 0);
	assert_int_equal(bench_tradeoff_find(&bench, &tradeoff), 0);
	assert_int_equal(tradeoff.goal_count, 0);
	assert_non_null(bench_add_variant(&bench, "16"));
	assert_int_equal(bench_tradeoff_find(&bench, &tradeoff), 0);
	assert_int_equal(tradeoff.goal_count, 0);
	bench_tradeoff_text(&bench, text, sizeof(text));
	assert_string_equal(text, "");
}

/* 1 is a little faster than 2, 2 than 3, each within the scatter; 3 takes least memory. */
static void something_stays_where_overlap_goes_in_a_circle(void **state)
{
	struct bench_tradeoff tradeoff;
	size_t kept = 0;

	(void)state;
	add("8", 9.0e8, 30 << 20, 0.9, 0.04);
	add("16", 9.8e8, 10 << 20, 0.9, 0.04);
	add("32", 10.5e8, 20 << 20, 0.9, 0.04);
	assert_int_equal(bench_tradeoff_find(&bench, &tradeoff), 0);
	for (int i = 0; i < 3; i++)
		kept += tradeoff.is_chosen[i];
	assert_true(kept > 0 && kept < 3);
}

static void many_are_cut_with_their_number(void **state)
{
	char text[400];

	(void)state;
	for (int i = 0; i < 40; i++)
		add("8", (1 + i) * 1e8, (80 - i) << 20, 0.9, 0);
	add("9", 90e8, 100 << 20, 0.1, 0);
	bench_tradeoff_text(&bench, text, sizeof(text));
	assert_non_null(strstr(text, " than one of 1 (batch=8), "));
	assert_string_equal(
		strrchr(text, ')') + 1 + strspn(strrchr(text, ')') + 1, " and0123456789"), "more");
}

static void a_column_without_a_direction_is_no_goal(void **state)
{
	struct bench_tradeoff tradeoff;

	(void)state;
	bench.columns.items[0].better = BENCH_BETTER_LOWER;
	add("8", 4e8, 10 << 20, 0.9, 0);
	add("16", 4e8, 10 << 20, 0.8, 0);
	assert_int_equal(bench_tradeoff_find(&bench, &tradeoff), 0);
	assert_int_equal(tradeoff.goals[2].best, 1);
	assert_false(tradeoff.is_chosen[0]);
	bench.columns.items[0].better = BENCH_BETTER_UNKNOWN;
	assert_int_equal(bench_tradeoff_find(&bench, &tradeoff), 0);
	assert_int_equal(tradeoff.goal_count, 2);
	assert_true(tradeoff.is_chosen[0]);
}

static void files_have_it(void **state)
{
	char *text;

	(void)state;
	add("8", 4e8, 10 << 20, 0.9, 0);
	add("16", 4e8, 20 << 20, 0.8, 0);
	text = paper_write(&bench, "json", NULL, 0);
	assert_non_null(strstr(text, "\"trade_off\""));
	free(text);
	text = paper_write(&bench, "markdown", NULL, 0);
	assert_non_null(strstr(text, "than one of 1 (batch=8)\n"));
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_what_nothing_beats_is_worth_a_choice),
		TEST(a_difference_within_the_scatter_beats_nothing),
		TEST(one_command_or_one_without_runs_has_none),
		TEST(something_stays_where_overlap_goes_in_a_circle),
		TEST(many_are_cut_with_their_number),
		TEST(a_column_without_a_direction_is_no_goal),
		TEST(files_have_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
