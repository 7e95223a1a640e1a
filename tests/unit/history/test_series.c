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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_beyond_the_limit_are_one, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
