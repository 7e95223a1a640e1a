// SPDX-License-Identifier: BSD-2-Clause
/* Tests for history/series: names beyond the limit are summed up, not left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "history/series.h"
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
	struct series_question question = {.figure = figure_find("cpu.total"),
					   .by = ROWS_BY_COMM,
					   .range = {BEGIN, BEGIN + SECOND}};
	struct series series;
	struct error error;
	double sum = 0, others = 0;

	(void)state;
	record();
	assert_non_null(question.figure);
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
	struct series series = {.question = {.figure = figure_find(figure)}};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(series.question.figure);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_beyond_the_limit_are_one, setup, teardown),
		cmocka_unit_test(rare_events_are_not_rounded_to_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
