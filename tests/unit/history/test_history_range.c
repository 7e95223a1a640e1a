// SPDX-License-Identifier: BSD-2-Clause
/* Tests of which windows answer for an interval: all of it, as finely as there is room for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "history/range_diff.h"
#include "history/series.h"
#include "profile/slice/slice.h"
#include "temp_store.h"
#include "temp_tree.h"

#define SECOND 1000000000LL
#define HOUR   (3600 * SECOND)
#define BEGIN  (1700002800LL * SECOND)

static struct temp_tree tree;
static struct store *store;

static int setup(void **state)
{
	(void)state;
	store = temp_store_open(&tree);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	store_close(store);
	temp_tree_done(&tree);
	return 0;
}

/* Of an idle machine, slice by slice. */
static void record(int64_t count, int64_t length_ns)
{
	for (int64_t i = 0; i < count; i++) {
		struct profile *slice = slice_new();
		struct profile_info *info;

		assert_non_null(slice);
		info = profile_info(slice);
		info->kinds_mask = 1U << PKBPF_PROFILE_CPU;
		info->start_ns = (uint64_t)(1000 * SECOND + i * length_ns);
		info->end_ns = info->start_ns + (uint64_t)length_ns;
		info->start_unix_ns = BEGIN + i * length_ns;
		assert_int_equal(store_add(store, slice, NULL), 0);
		profile_free(slice);
	}
}

static struct store_windows windows_of(int64_t from, int64_t to, size_t most)
{
	struct history_range range = {from, to};
	struct store_windows windows;
	struct error error;

	if (history_windows(store, &range, most, &windows, &error) < 0)
		fail_msg("%s", error.text);
	return windows;
}

static void a_long_interval_is_answered_from_its_begin_to_its_end(void **state)
{
	struct store_windows windows;

	(void)state;
	record(720, HOUR);
	windows = windows_of(BEGIN, BEGIN + 720 * HOUR, 400);
	assert_int_equal(windows.list.items[0].level, STORE_HOUR);
	assert_int_equal(windows.list.count, 720);
	assert_int_equal(windows.list.items[0].begin_unix_ns, BEGIN);
	assert_int_equal(windows.list.items[719].end_unix_ns, BEGIN + 720 * HOUR);
	array_free(&windows.list);
	/* What begins before the history is answered from its begin. */
	windows = windows_of(BEGIN - 9000 * HOUR, BEGIN + 720 * HOUR, 400);
	assert_int_equal(windows.list.items[0].begin_unix_ns, BEGIN);
	array_free(&windows.list);
}

static void a_series_of_a_long_interval_merges_neighbours(void **state)
{
	struct series_question question = {.subject = {.figure = figure_find("machine.busy")},
					   .by = ROWS_BY_COMM,
					   .range = {BEGIN, BEGIN + 720 * HOUR}};
	struct series series;
	struct error error;

	(void)state;
	record(720, HOUR);
	assert_int_equal(series_read(store, &question, &series, &error), 0);
	assert_int_equal(series.points.count, 360);
	assert_int_equal(series.points.items[0].range.from_unix_ns, BEGIN);
	assert_int_equal(series.points.items[359].range.to_unix_ns, BEGIN + 720 * HOUR);
	assert_true(series.points.items[7].covered_ns == (double)(2 * HOUR));
	series_done(&series);
}

static void a_short_interval_is_answered_by_the_finest_windows(void **state)
{
	struct store_windows windows;

	(void)state;
	record(30, 10 * SECOND);
	windows = windows_of(BEGIN, BEGIN + 300 * SECOND, 400);
	assert_int_equal(windows.list.items[0].level, STORE_SLICE);
	assert_int_equal(windows.list.count, 30);
	array_free(&windows.list);
	windows = windows_of(BEGIN, BEGIN + 300 * SECOND, 29);
	assert_int_equal(windows.list.items[0].level, STORE_MINUTE);
	assert_int_equal(windows.list.count, 5);
	array_free(&windows.list);
	windows = windows_of(BEGIN + HOUR, BEGIN + 2 * HOUR, 400);
	assert_int_equal(windows.list.count, 0);
	array_free(&windows.list);
}

static void what_is_too_long_is_refused_with_advice(void **state)
{
	struct history_range range = {BEGIN, BEGIN + 3000 * HOUR};
	struct store_windows windows;
	struct error error;

	(void)state;
	record(2010, HOUR);
	assert_int_equal(history_windows(store, &range, 400, &windows, &error), -E2BIG);
	assert_non_null(strstr(error.text, "2010 windows"));
	assert_non_null(strstr(error.text, "shorter"));
	assert_int_equal(windows.list.count, 0);
}

static void the_sides_of_a_comparison_say_what_they_cover(void **state)
{
	struct history_range ranges[DIFF_SIDES] = {{BEGIN, BEGIN + 480 * HOUR},
						   {BEGIN + 480 * HOUR, BEGIN + 960 * HOUR}};
	struct range_diff diff;
	struct error error;

	(void)state;
	record(960, HOUR);
	if (range_diff_read(store, ranges, NULL, &diff, &error) < 0)
		fail_msg("%s", error.text);
	assert_string_equal(diff.titles[DIFF_BASE], "2023-11-14T23:00:00Z to 2023-12-04T23:00:00Z");
	assert_string_equal(diff.titles[DIFF_NEW], "2023-12-04T23:00:00Z to 2023-12-24T23:00:00Z");
	range_diff_done(&diff);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_long_interval_is_answered_from_its_begin_to_its_end),
		TEST(a_series_of_a_long_interval_merges_neighbours),
		TEST(a_short_interval_is_answered_by_the_finest_windows),
		TEST(what_is_too_long_is_refused_with_advice),
		TEST(the_sides_of_a_comparison_say_what_they_cover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
