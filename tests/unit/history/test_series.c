// SPDX-License-Identifier: BSD-2-Clause
/* Tests for history/series: names beyond the limit are summed up, not left out. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "base/array.h"
#include "history/series.h"
#include "rows/figure_table.h"
#include "region_window.h"
#include "temp_store.h"
#include "temp_tree.h"

#define SECOND 1000000000LL
#define BEGIN  (1700002800LL * SECOND)
#define NAMES  700
#define GROUPS 512

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

/* A slice of a second in which each of so many programs ran for a millisecond. */
static void record(void)
{
	struct fake_profile machine;
	struct profile_info *info;

	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, NAMES * 1000000ULL, 0);
	for (uint32_t i = 0; i < NAMES; i++) {
		char comm[16];

		snprintf(comm, sizeof(comm), "program%u", i);
		account_process(&machine, &(struct account_process){.pid = 1000 + i,
								    .comm = comm,
								    .run_ns = 1000000});
	}
	account_end(&machine);
	info = profile_info(machine.profile);
	info->start_unix_ns = BEGIN;
	info->start_ns = (uint64_t)SECOND;
	info->end_ns = info->start_ns + (uint64_t)SECOND;
	assert_int_equal(store_add(store, machine.profile, NULL), 0);
	fake_profile_done(&machine);
}

static void names_beyond_the_limit_are_one(void **state)
{
	struct series_question question = {.subject = {.figure = figure_find("cpu.total")},
					   .by = ROWS_BY_COMM,
					   .range = {BEGIN, BEGIN + SECOND}};
	struct series series;
	struct error error;
	double sum = 0, others = 0;

	(void)state;
	record();
	assert_non_null(question.subject.figure);
	if (series_read(store, &question, &series, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(series.groups.count, GROUPS);
	array_foreach(&series.groups, group) {
		sum += group->values[0];
		if (strcmp(group->name, "(others)") == 0)
			others += group->values[0];
	}
	assert_true(others == (NAMES - GROUPS + 1) * 1e6);
	assert_true(sum == NAMES * 1e6);
	series_done(&series);
}

/* The value of one point of a minute as people see it. */
static void assert_shown(const char *figure, double value, const char *shown)
{
	struct series_group group = {.name = "server", .values = &value};
	struct series_point point = {.busy_percent = -1, .covered_ns = 60e9};
	struct series series = {.question = {.subject = {.figure = figure_find(figure)}}};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(series.question.subject.figure);
	series.points.items = &point;
	series.groups.items = &group;
	series.points.count = series.groups.count = 1;
	series_write_text(&series, 1, out);
	fclose(out);
	assert_true(size > strlen(shown) + 2);
	if (strncmp(text + size - strlen(shown) - 1, shown, strlen(shown)) != 0)
		fail_msg("%s of %g: no %s in %s", figure, value, shown, text);
	free(text);
}

static void rare_events_are_not_rounded_to_nothing(void **state)
{
	assert_shown("memory.oom_killed", 1, " 0.017");
	assert_shown("memory.oom_killed", 0, " .");
	assert_shown("memory.minor_faults", 600, " 10.0");
	assert_shown("memory.minor_faults", 60000, " 1000");
	assert_shown("cpu.share", 0.004, " 0.004 %");
	assert_shown("cpu.total", 6000, " 100 ns");
	assert_shown("storage.read", 6, " 0.1 B");
}

static void values_have_the_unit_that_fits(void **state)
{
	assert_shown("cpu.total", 60 * 1.5e3, " 2 us");
	assert_shown("cpu.total", 60 * 999e3, " 999 us");
	assert_shown("cpu.total", 60 * 2.5e6, " 2.5 ms");
	assert_shown("cpu.total", 60 * 1e9, " 1.00 s");
	assert_shown("cpu.total", 60 * 12.345e9, " 12.35 s");
	assert_shown("storage.read", 60.0 * 999, " 999 B");
	assert_shown("storage.read", 60.0 * 1000, " 1.0 KiB");
	assert_shown("storage.read", 60.0 * 2048, " 2.0 KiB");
	assert_shown("storage.read", 60.0 * (20 << 20), " 20 MiB");
	assert_shown("storage.read", 60.0 * (5ULL << 30), " 5.0 GiB");
	assert_shown("storage.read", 60.0 * (3ULL << 40), " 3.0 TiB");
	assert_shown("storage.read", 60.0 * (5000ULL << 40), " 5000 TiB");
	assert_shown("cpu.share", 99.5, " 99.5 %");
	assert_shown("cpu.share", 250, " 250 %");
	assert_shown("memory.minor_faults", 60 * 0.1, " 0.1");
}

static void rows_of_csv_have_a_cell_for_each_group(void **state)
{
	double first[2] = {60, 0.5}, second[2] = {120, 0};
	struct series_group groups[] = {{.name = "a,b", .values = first},
					{.name = "c", .values = second}};
	struct series_point points[] = {{.range = {1500 * 1000000LL, 61500 * 1000000LL},
					 .busy_percent = 12.5,
					 .covered_ns = 60e9},
					{.range = {61500 * 1000000LL, 62500 * 1000000LL},
					 .busy_percent = -1,
					 .covered_ns = 1e9}};
	struct series series = {
		.question = {.subject = {.figure = figure_find("memory.minor_faults")}},
		.points = {points, 2, 2},
		.groups = {groups, 2, 2}};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	series_write_csv(&series, 10, out);
	fclose(out);
	assert_string_equal(text, "begin_unix,end_unix,machine_busy_percent,\"a,b\",c\r\n"
				  "1.500,61.500,12.500,1,2\r\n"
				  "61.500,62.500,,0.5,0\r\n");
	free(text);
	out = open_memstream(&text, &size);
	series_write_csv(&series, 1, out);
	fclose(out);
	assert_string_equal(text, "begin_unix,end_unix,machine_busy_percent,\"a,b\"\r\n"
				  "1.500,61.500,12.500,1\r\n"
				  "61.500,62.500,,0.5\r\n");
	free(text);
}

static void levels_are_not_divided_by_seconds(void **state)
{
	static const struct {
		const char *name;
		bool adds_up;
	} cases[] = {
		{"cpu.total", true},
		{"memory.minor_faults", true},
		{"memory.heap_allocated", true},
		{"memory.heap_allocations", true},
		{"memory.rss_growth", true},
		{"memory.oom_killed", true},
		{"network.sent", true},
		{"offcpu.waits", true},
		{"memory.rss", false},
		{"memory.rss_mean", false},
		{"memory.rss_peak", false},
		{"memory.private", false},
		{"memory.swap", false},
		{"memory.heap_live", false},
		{"memory.heap_peak", false},
		{"memory.heap_growth", false},
		{"threads.alive", false},
		{"threads.seen", false},
		{"cpu.share", false},
		{"offcpu.p99", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct figure *figure = figure_find(cases[i].name);

		assert_non_null(figure);
		if (figure_adds_up(figure) != cases[i].adds_up)
			fail_msg("%s", cases[i].name);
	}
}

/* A second that begins so many seconds after the first. */
static void record_region(int64_t second, const struct region_window *window)
{
	struct fake_profile machine;
	struct profile_info *info;

	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, 1000000ULL, 0);
	account_process(&machine, &(struct account_process){.pid = 1, .comm = "server"});
	account_end(&machine);
	if (window->name)
		region_window_add(machine.profile, window);
	info = profile_info(machine.profile);
	info->start_unix_ns = BEGIN + second * SECOND;
	info->start_ns = (uint64_t)(SECOND + second * SECOND);
	info->end_ns = info->start_ns + (uint64_t)SECOND;
	info->regions_ns = window->name ? SECOND : 0;
	assert_int_equal(store_add(store, machine.profile, NULL), 0);
	fake_profile_done(&machine);
}

static void read_region(const char *figure, struct series *series)
{
	struct series_question question = {.range = {BEGIN, BEGIN + 3 * SECOND}};
	struct error error;

	if (series_subject_parse(figure, &question.subject, &error) < 0 ||
	    series_read(store, &question, series, &error) < 0)
		fail_msg("%s: %s", figure, error.text);
}

static char *text_of(const struct series *series,
		     void (*write)(const struct series *series, size_t top, FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	write(series, 10, out);
	fclose(out);
	return text;
}

static void regions_have_series_and_gaps_are_no_zeroes(void **state)
{
	struct series series;
	char *text;

	(void)state;
	record_region(0, &(struct region_window){"predict", 10, 1000, 2, 8000, 4000, 0});
	record_region(1, &(struct region_window){"other", 5, 1000, 0, 0, 0, 0});
	record_region(2, &(struct region_window){"predict", 6, 1000, 0, 0, 4000, SECOND / 2});
	read_region("region[predict].count", &series);
	assert_int_equal(series.groups.count, 1);
	text = text_of(&series, series_write_csv);
	/* Per second that was watched: 6 in half of one. */
	assert_non_null(strstr(text, ",12\r\n"));
	assert_non_null(strstr(text, ",\r\n"));
	assert_int_equal(text[strlen(text) - 4], '1');
	assert_int_equal(text[strlen(text) - 3], '2');
	free(text);
	text = text_of(&series, series_write_text);
	assert_non_null(strstr(text, "watched 500.0 ms of 1.00 s"));
	free(text);
	text = text_of(&series, series_write_json);
	assert_non_null(
		strstr(text, "\"values\":[12,null,12],\"watched_seconds\":[1.000,0.000,0.500]"));
	free(text);
	series_done(&series);
	read_region("region[predict].violations", &series);
	assert_true(series.groups.items[0].values[0] == 2);
	series_done(&series);
	read_region("region[*].p50", &series);
	assert_int_equal(series.groups.count, 2);
	series_done(&series);
}

static void a_window_without_regions_is_said_not_to_be_watched(void **state)
{
	struct series series;
	char *text;

	(void)state;
	record_region(0, &(struct region_window){0});
	record_region(1, &(struct region_window){"predict", 10, 1000, 0, 0, 0, 0});
	read_region("region[predict].p50", &series);
	text = text_of(&series, series_write_text);
	assert_non_null(strstr(text, "-  not watched\n"));
	free(text);
	series_done(&series);
}

static void a_subject_says_what_it_may_be(void **state)
{
	static const char *const wrong[][2] = {
		{"region[x]", "region[predict]"},
		{"region[x].p98", "unknown figure 'p98'"},
		{"region[x].over(1x)", "over()"},
		{"cpu.nothing", "unknown figure"},
	};
	struct series_subject subject;
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(series_subject_parse(wrong[i][0], &subject, &error), -EINVAL);
		if (!strstr(error.text, wrong[i][1]))
			fail_msg("%s: %s", wrong[i][0], error.text);
	}
	assert_int_equal(series_subject_parse("region[x].over(5ms)", &subject, &error), 0);
	assert_int_equal(subject.region.limit_ns, 5000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_beyond_the_limit_are_one, setup, teardown),
		cmocka_unit_test(rare_events_are_not_rounded_to_nothing),
		cmocka_unit_test(values_have_the_unit_that_fits),
		cmocka_unit_test(levels_are_not_divided_by_seconds),
		cmocka_unit_test(rows_of_csv_have_a_cell_for_each_group),
		cmocka_unit_test_setup_teardown(regions_have_series_and_gaps_are_no_zeroes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_window_without_regions_is_said_not_to_be_watched,
						setup, teardown),
		cmocka_unit_test(a_subject_says_what_it_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
