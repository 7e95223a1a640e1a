// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/outlier.h"

#define RUNS 12

/* Runs of 100 ms on a CPU, give or take 1 ms; one takes 30 ms more in some state. */
static void fill(struct bench *bench, enum bench_figure state)
{
	bench_init(bench);
	bench_add_variant(bench, "a");
	for (uint32_t i = 0; i < RUNS; i++) {
		struct bench_run *run = array_add(&bench->runs);
		double more = i == 7 ? 30e6 : 0, wall = 100e6 + (i % 3) * 1e6;

		run->number = i + 1;
		bench_run_set(run, BENCH_CPU, wall);
		bench_run_set(run, BENCH_SLEEP, 0);
		bench_run_set(run, BENCH_RUNQUEUE, 0);
		bench_run_set(run, BENCH_DISK, 0);
		bench_run_set(run, BENCH_STOPPED, 0);
		bench_run_set(run, BENCH_WALL, wall + more);
		bench_run_set(run, state, run->values[state] + more);
	}
}

static void names_the_state_that_an_outlier_has_more_of(void **state)
{
	static const struct {
		enum bench_figure figure;
		const char *words;
	} table[] = {
		{BENCH_RUNQUEUE, "+30.0 ms waiting for a CPU"},
		{BENCH_DISK, "+30.0 ms disk wait"},
		{BENCH_STOPPED, "+30.0 ms stopped by a signal"},
		{BENCH_CPU, "+30.0 ms on CPU"},
		{BENCH_SLEEP, "+30.0 ms sleep"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct bench bench;
		struct outliers outliers;
		char text[256];

		fill(&bench, table[i].figure);
		assert_int_equal(outliers_find(&bench, &outliers), 0);
		assert_int_equal(outliers.count, 1);
		assert_int_equal(outliers.items[0].run, 7);
		outlier_text(&outliers.items[0], text, sizeof(text));
		assert_non_null(strstr(text, table[i].words));
		assert_non_null(strstr(text, "+30 %"));
		free(outliers.items);
		bench_done(&bench);
	}
}

/* A parent sleeps as long as its child waits for a CPU: that is no second cause. */
static void tells_the_cause_rather_than_the_sleep_it_brings(void **state)
{
	struct bench bench;
	struct outliers outliers;
	char text[256];

	fill(&bench, BENCH_RUNQUEUE);
	bench.runs.items[7].values[BENCH_SLEEP] = 30e6;
	assert_int_equal(outliers_find(&bench, &outliers), 0);
	outlier_text(&outliers.items[0], text, sizeof(text));
	assert_non_null(strstr(text, "waiting for a CPU"));
	assert_null(strstr(text, "sleep"));
	free(outliers.items);
	bench_done(&bench);
}

static void steady_runs_have_no_outlier(void **state)
{
	struct bench bench;
	struct outliers outliers;

	fill(&bench, BENCH_DISK);
	bench.runs.items[7].values[BENCH_WALL] = 101e6;
	assert_int_equal(outliers_find(&bench, &outliers), 0);
	assert_int_equal(outliers.count, 0);
	bench_done(&bench);
}

static void sees_that_runs_get_slower_all_the_time(void **state)
{
	struct bench bench;

	fill(&bench, BENCH_CPU);
	assert_true(fabs(bench_trend(&bench)) < 0.5);
	for (size_t i = 0; i < RUNS; i++)
		bench.runs.items[i].values[BENCH_WALL] = 100e6 + (double)i * 1e6;
	assert_true(bench_trend(&bench) > 0.9);
	bench_done(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_the_state_that_an_outlier_has_more_of),
		cmocka_unit_test(tells_the_cause_rather_than_the_sleep_it_brings),
		cmocka_unit_test(steady_runs_have_no_outlier),
		cmocka_unit_test(sees_that_runs_get_slower_all_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
