// SPDX-License-Identifier: BSD-2-Clause
/* Tests how growth is estimated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/capacity.h"

static struct capacity_figure days(size_t count, double first, double per_day)
{
	struct capacity_figure figure = {.day_count = count};

	for (size_t i = 0; i < count; i++)
		figure.days[i] =
			(struct capacity_day){20000 + (int64_t)i, first + per_day * (double)i};
	return figure;
}

static void few_days_say_nothing(void **state)
{
	struct capacity_figure figure = days(CAPACITY_DAYS_MIN - 1, 10, 5);

	capacity_estimate(&figure, 80);
	assert_false(figure.has_growth);
	assert_false(figure.meets_limit);
}

static void a_steady_growth_meets_its_limit(void **state)
{
	struct capacity_figure figure = days(11, 20, 2);

	capacity_estimate(&figure, 80);
	assert_true(figure.has_growth);
	assert_float_equal(figure.growth_per_week, 14, 1e-9);
	assert_true(figure.meets_limit);
	/* 40 on the last day. */
	assert_float_equal(figure.days_to_limit, 20, 1e-9);
}

static void a_few_unusual_days_do_not_matter(void **state)
{
	struct capacity_figure figure = days(15, 20, 1);

	figure.days[3].p95 = 99;
	figure.days[14].p95 = 2;
	capacity_estimate(&figure, 80);
	assert_float_equal(figure.growth_per_week, 7, 0.7);
	assert_float_equal(figure.days_to_limit, 46, 3);
}

static void days_that_are_missing_are_no_steps(void **state)
{
	struct capacity_figure figure = days(10, 20, 1);

	for (size_t i = 5; i < 10; i++) {
		figure.days[i].number += 10;
		figure.days[i].p95 += 10;
	}
	capacity_estimate(&figure, 80);
	assert_float_equal(figure.growth_per_week, 7, 1e-9);
}

static void what_shrinks_meets_nothing_unless_it_is_above(void **state)
{
	struct capacity_figure figure = days(10, 50, -1);

	capacity_estimate(&figure, 80);
	assert_true(figure.has_growth);
	assert_false(figure.meets_limit);
	figure = days(10, 95, -1);
	capacity_estimate(&figure, 80);
	assert_true(figure.meets_limit);
	assert_float_equal(figure.days_to_limit, 0, 0);
	figure = days(10, 50, 1);
	capacity_estimate(&figure, 0);
	assert_false(figure.meets_limit);
}

#define MINUTE_NS 60000000000ULL

/* Windows of a day of ten minutes: values 0, 1, 2, … */
static size_t ten_minutes(struct capacity_sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		samples[i] = (struct capacity_sample){(double)(count - 1 - i), 10 * MINUTE_NS};
	return count;
}

static void a_part_of_a_day_is_no_day(void **state)
{
	struct capacity_sample samples[144];
	double p95 = -1;

	(void)state;
	assert_false(capacity_day_p95(samples, ten_minutes(samples, 0), &p95));
	assert_false(capacity_day_p95(samples, ten_minutes(samples, 36), &p95));
	assert_false(capacity_day_p95(samples, ten_minutes(samples, 107), &p95));
	assert_float_equal(p95, -1, 0);
	assert_true(capacity_day_p95(samples, ten_minutes(samples, 144), &p95));
	assert_float_equal(p95, 136, 0);
}

/* A service that is started again and again leaves many short windows. */
static void many_windows_of_a_day_count_by_their_length(void **state)
{
	struct capacity_sample samples[1000];
	double p95;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		samples[i] = (struct capacity_sample){i < 870 ? 1 : 90, MINUTE_NS / 10};
	for (size_t i = 0; i < 130; i++)
		samples[i].length_ns = 10 * MINUTE_NS;
	assert_true(capacity_day_p95(samples, 1000, &p95));
	assert_float_equal(p95, 1, 0);
	for (size_t i = 990; i < 1000; i++)
		samples[i] = (struct capacity_sample){50, 20 * MINUTE_NS};
	assert_true(capacity_day_p95(samples, 1000, &p95));
	assert_float_equal(p95, 50, 0);
}

/* The caller frees it. */
static char *written(const struct capacity *capacity)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	capacity_write_text(capacity, out);
	fclose(out);
	return text;
}

static void each_figure_has_a_row_with_what_is_known(void **state)
{
	struct capacity *capacity = calloc(1, sizeof(*capacity));
	char *text;

	assert_non_null(capacity);
	capacity->figures[CAPACITY_CPU] = days(11, 20, 2);
	capacity->figures[CAPACITY_MEMORY] = days(3, 50, 1);
	capacity->figures[CAPACITY_READ] = days(10, 5 << 20, 1 << 20);
	capacity_estimate(&capacity->figures[CAPACITY_CPU], 80);
	capacity_estimate(&capacity->figures[CAPACITY_MEMORY], 80);
	capacity_estimate(&capacity->figures[CAPACITY_READ], 0);
	text = written(capacity);
	assert_string_equal(
		text,
		"           days   p95 last day       per week  meets 80 %\n"
		"cpu          11         40.0 %           14.0 %    in 20 days\n"
		"memory        3         52.0 %                -  not enough days: 7 at least\n"
		"read         10     14.00 MiB/s      7.00 MiB/s  limit unknown\n"
		"written       0              -              -  no whole day yet\n");
	free(text);
	free(capacity);
}

static void a_limit_is_met_grown_to_or_never(void **state)
{
	static const struct {
		double first, per_day;
		const char *text;
	} rows[] = {
		{90, 1, "has met 80 %"},
		{50, -1, "does not grow"},
		{50, 0.001, "not within ten years"},
		{61, 1, "in 10 days"},
		{69.8, 1, "in 1 day\n"},
		{70.5, 1, "within a day"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct capacity *capacity = calloc(1, sizeof(*capacity));
		char *text;

		assert_non_null(capacity);
		capacity->figures[CAPACITY_CPU] = days(10, rows[i].first, rows[i].per_day);
		capacity_estimate(&capacity->figures[CAPACITY_CPU], 80);
		text = written(capacity);
		assert_non_null(strstr(text, rows[i].text));
		free(text);
		free(capacity);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_of_a_day_is_no_day),
		cmocka_unit_test(many_windows_of_a_day_count_by_their_length),
		cmocka_unit_test(few_days_say_nothing),
		cmocka_unit_test(a_steady_growth_meets_its_limit),
		cmocka_unit_test(a_few_unusual_days_do_not_matter),
		cmocka_unit_test(days_that_are_missing_are_no_steps),
		cmocka_unit_test(what_shrinks_meets_nothing_unless_it_is_above),
		cmocka_unit_test(each_figure_has_a_row_with_what_is_known),
		cmocka_unit_test(a_limit_is_met_grown_to_or_never),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
