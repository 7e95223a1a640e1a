// SPDX-License-Identifier: BSD-2-Clause
/* Tests for bench/bench, bench_figure and bench_limit: figures of known runs, their units, and
 * limits of them. */
#include <errno.h>
#include <math.h>

#include "paper_bench.h"

static struct bench bench;
static struct error error;

static int setup(void **state)
{
	(void)state;
	bench_init(&bench);
	assert_non_null(bench_add_variant(&bench, "sleep 1"));
	assert_non_null(bench_add_variant(&bench, "sleep 2"));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bench_done(&bench);
	return 0;
}

/* 1 ms, 2 ms, … in an order of its own. */
static void fill(size_t count)
{
	for (size_t i = 0; i < count; i++)
		paper_run(&bench, 0, (double)(1 + i * 37 % count) * 1e6);
}

static void warm_ups_and_failures_count_for_nothing(void **state)
{
	double values[8];

	(void)state;
	fill(3);
	paper_run(&bench, 0, 9e9)->is_warmup = true;
	paper_run(&bench, 0, 9e9)->has_failed = true;
	paper_run(&bench, 1, 5);
	assert_int_equal(bench_run_count(&bench, 0), 3);
	assert_int_equal(bench_values(&bench, 0, BENCH_WALL, values), 3);
	assert_float_equal(values[0], 1e6, 0);
	assert_float_equal(values[1], 2e6, 0);
	assert_int_equal(bench_values(&bench, 0, BENCH_CPU, values), 0);
	assert_int_equal(bench_values(&bench, 1, BENCH_WALL, values), 1);
}

static void a_summary_has_the_usual_numbers(void **state)
{
	struct bench_summary summary;

	(void)state;
	fill(5);
	assert_int_equal(bench_summarize(&bench, 0, BENCH_WALL, &summary), 0);
	assert_int_equal(summary.count, 5);
	assert_float_equal(summary.median, 3e6, 0);
	assert_float_equal(summary.mean, 3e6, 1e-6);
	assert_float_equal(summary.min, 1e6, 0);
	assert_float_equal(summary.max, 5e6, 0);
	assert_float_equal(summary.quartiles[0], 2e6, 0);
	assert_float_equal(summary.quartiles[1], 4e6, 0);
	/* Of a sample: n - 1. */
	assert_float_equal(summary.deviation, sqrt(2.5) * 1e6, 1e-3);
	assert_false(summary.interval.known);
	assert_true(isnan(summary.p95) && isnan(summary.p99));
	assert_int_equal(bench_summarize(&bench, 0, BENCH_ENERGY, &summary), 0);
	assert_int_equal(summary.count, 0);
}

static void rare_percentiles_need_enough_runs(void **state)
{
	static const struct {
		size_t runs;
		bool p95, p99;
	} rows[] = {{19, false, false}, {20, true, false}, {99, true, false}, {100, true, true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bench_summary summary;

		if (i)
			setup(state);
		fill(rows[i].runs);
		assert_int_equal(bench_summarize(&bench, 0, BENCH_WALL, &summary), 0);
		assert_int_equal(!isnan(summary.p95), rows[i].p95);
		assert_int_equal(!isnan(summary.p99), rows[i].p99);
		if (rows[i].p99)
			assert_float_equal(summary.p95, 95.05e6, 1);
		if (i + 1 < sizeof(rows) / sizeof(*rows))
			teardown(state);
	}
}

static void figures_have_names_and_units(void **state)
{
	static const struct {
		enum bench_unit unit;
		double value;
		const char *text;
	} rows[] = {
		{BENCH_NS, 12.3e6, "12.3 ms"},
		{BENCH_NS, -12.3e6, "-12.3 ms"},
		{BENCH_NS, 0, "0 ns"},
		{BENCH_NS, -0.2, "0 ns"},
		{BENCH_BYTES, 3 << 20, "3.00 MiB"},
		{BENCH_COUNT, 1234, "1,234"},
		{BENCH_JOULES, 1.234, "1.23 J"},
		{BENCH_JOULES, -0.5, "-0.50 J"},
		{BENCH_CELSIUS, 61.6, "62 C"},
		{BENCH_HERTZ, 2.4e9, "2.40 GHz"},
	};
	char text[BENCH_VALUE_SIZE];

	(void)state;
	for (int figure = 0; figure < BENCH_COLUMN; figure++)
		assert_int_equal(bench_figure_find(bench_figures[figure].name), figure);
	assert_int_equal(bench_figure_find("walls"), -1);
	assert_string_equal(bench_unit_suffix(BENCH_NS), "_ns");
	assert_string_equal(bench_unit_suffix(BENCH_COUNT), "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(bench_value_text(text, rows[i].unit, rows[i].value),
				    rows[i].text);
}

static void limits_are_read_with_their_unit(void **state)
{
	static const struct {
		const char *text;
		enum bench_figure figure;
		enum bench_statistic statistic;
		double value;
	} rows[] = {
		{"wall>100ms", BENCH_WALL, BENCH_MEDIAN, 1e8},
		{"wall.p99 > 1s", BENCH_WALL, BENCH_P99, 1e9},
		{"wall.mean<2us", BENCH_WALL, BENCH_MEAN, 2000},
		{"peak_rss.max>64MiB", BENCH_PEAK_RSS, BENCH_MAX, 64 << 20},
		{"voluntary_switches.min>=5", BENCH_VOLUNTARY, BENCH_MIN, 5},
	};
	static const char *const bad[] = {"",	    "wall",	   "wall>",	   "wall>fast",
					  ">1s",    "walls>1s",	   "wall.p50>1s",  "wall.>1s",
					  "wall>5", "peak_rss>1s", "processes>1s", "wall=1s"};
	struct bench_limit limit;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (bench_limit_parse(rows[i].text, NULL, &limit, &error) < 0)
			fail_msg("%s", error.text);
		assert_int_equal(limit.figure, rows[i].figure);
		assert_int_equal(limit.statistic, rows[i].statistic);
		assert_float_equal(limit.value, rows[i].value, 1e-6);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (bench_limit_parse(bad[i], NULL, &limit, &error) != -EINVAL)
			fail_msg("'%s' is taken", bad[i]);
}

static enum bench_gate_outcome check(const char *text)
{
	struct bench_gate_result result;
	struct bench_limit limit;

	assert_int_equal(bench_limit_parse(text, NULL, &limit, &error), 0);
	assert_int_equal(bench_limit_check(&limit, text, &bench, 0, &result), 0);
	assert_non_null(strstr(result.name, "sleep 1"));
	return result.outcome;
}

static void a_limit_fails_when_it_is_surely_exceeded(void **state)
{
	(void)state;
	fill(50); /* median 25.5 ms, from 18 to 33 */
	assert_int_equal(check("wall>10ms"), BENCH_GATE_FAILED);
	assert_int_equal(check("wall>40ms"), BENCH_GATE_PASSED);
	/* The interval holds the limit: nobody can tell. */
	assert_int_equal(check("wall>24ms"), BENCH_GATE_PASSED);
	assert_int_equal(check("wall<10ms"), BENCH_GATE_PASSED);
	assert_int_equal(check("wall<40ms"), BENCH_GATE_FAILED);
	/* Others have no interval. */
	assert_int_equal(check("wall.max>49ms"), BENCH_GATE_FAILED);
	assert_int_equal(check("wall.max>50ms"), BENCH_GATE_PASSED);
	assert_int_equal(check("wall.min<2ms"), BENCH_GATE_FAILED);
	assert_int_equal(check("wall.mean>25ms"), BENCH_GATE_FAILED);
	assert_int_equal(check("wall.p95>47ms"), BENCH_GATE_FAILED);
	assert_int_equal(check("wall.p99>1ns"), BENCH_GATE_NOT_CHECKED);
	assert_int_equal(check("cpu>1ns"), BENCH_GATE_NOT_CHECKED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(warm_ups_and_failures_count_for_nothing),
		TEST(a_summary_has_the_usual_numbers),
		TEST(rare_percentiles_need_enough_runs),
		TEST(figures_have_names_and_units),
		TEST(limits_are_read_with_their_unit),
		TEST(a_limit_fails_when_it_is_surely_exceeded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
