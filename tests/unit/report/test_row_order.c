// SPDX-License-Identifier: BSD-2-Clause
/* Tests the orders of rows, each by the column that is shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "report/row_order.h"

struct fixture {
	struct fake_profile fake;
	struct resource_rows rows;
};

static int setup(void **state)
{
	static struct fixture fixture;

	account_scenario_init(&fixture.fake);
	*state = &fixture;
	return resource_rows_init(&fixture.rows, fixture.fake.profile, ROWS_BY_PROCESS);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	resource_rows_done(&fixture->rows);
	fake_profile_done(&fixture->fake);
	return 0;
}

static const struct resource_row **sorted(struct fixture *fixture, enum row_order order)
{
	const struct resource_row **rows = row_order_sort(&fixture->rows, order);

	assert_non_null(rows);
	return rows;
}

static void each_order_has_every_row_once(void **state)
{
	struct fixture *fixture = *state;

	assert_true(fixture->rows.count > 3);
	for (enum row_order order = 0; order < ROW_ORDER_COUNT; order++) {
		const struct resource_row **rows = sorted(fixture, order);

		for (size_t i = 0; i < fixture->rows.count; i++) {
			size_t times = 0;

			for (size_t j = 0; j < fixture->rows.count; j++)
				times += rows[j] == &fixture->rows.items[i];
			assert_int_equal(times, 1);
		}
		free(rows);
	}
}

static void the_largest_comes_first(void **state)
{
	struct fixture *fixture = *state;
	const struct resource_row **by_active = sorted(fixture, ROW_ORDER_ACTIVE),
				  **by_cpu = sorted(fixture, ROW_ORDER_CPU),
				  **by_rss = sorted(fixture, ROW_ORDER_RSS),
				  **by_disk = sorted(fixture, ROW_ORDER_DISK);

	for (size_t i = 1; i < fixture->rows.count; i++) {
		assert_true(row_order_active_ns(by_active[i - 1]) >=
			    row_order_active_ns(by_active[i]));
		assert_true(by_cpu[i - 1]->cpu.share >= by_cpu[i]->cpu.share);
		assert_true(by_disk[i - 1]->waits.disk_ns >= by_disk[i]->waits.disk_ns);
		/* What is not known comes last. */
		if (by_rss[i]->known & ROW_HAS_RSS) {
			assert_true(by_rss[i - 1]->known & ROW_HAS_RSS);
			assert_true(by_rss[i - 1]->memory.rss_bytes >= by_rss[i]->memory.rss_bytes);
		}
	}
	free(by_active);
	free(by_cpu);
	free(by_rss);
	free(by_disk);
}

static void pids_and_names_are_in_their_own_order(void **state)
{
	struct fixture *fixture = *state;
	const struct resource_row **by_pid = sorted(fixture, ROW_ORDER_PID),
				  **by_name = sorted(fixture, ROW_ORDER_COMM);

	for (size_t i = 1; i < fixture->rows.count; i++) {
		assert_true(by_pid[i - 1]->pid <= by_pid[i]->pid);
		assert_true(strcmp(by_name[i - 1]->name, by_name[i]->name) <= 0);
	}
	free(by_pid);
	free(by_name);
}

static void rows_that_are_equal_keep_their_order(void **state)
{
	struct fixture *fixture = *state;
	const struct resource_row **rows = sorted(fixture, ROW_ORDER_MAJFLT);

	for (size_t i = 1; i < fixture->rows.count; i++)
		if (rows[i - 1]->memory.major_faults == rows[i]->memory.major_faults &&
		    (rows[i - 1]->known & ROW_HAS_USAGE) == (rows[i]->known & ROW_HAS_USAGE))
			assert_true(rows[i - 1] < rows[i]);
	free(rows);
}

static void active_is_what_keeps_a_thread_from_resting(void **state)
{
	const struct resource_row row = {
		.cpu = {.total_ns = 1},
		.waits = {.runqueue_ns = 20,
			  .disk_ns = 300,
			  .uninterruptible_ns = 4000,
			  .sleep_ns = 50000,
			  .stopped_ns = 600000},
	};

	assert_int_equal(row_order_active_ns(&row), 4321);
}

static void each_order_has_a_name_of_its_own_and_a_heading(void **state)
{
	assert_null(row_order_names[ROW_ORDER_COUNT]);
	for (enum row_order a = 0; a < ROW_ORDER_COUNT; a++) {
		assert_true(row_order_text(a)[0]);
		for (enum row_order b = 0; b < a; b++)
			assert_string_not_equal(row_order_names[a], row_order_names[b]);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_order_has_every_row_once),
		TEST(the_largest_comes_first),
		TEST(pids_and_names_are_in_their_own_order),
		TEST(rows_that_are_equal_keep_their_order),
		cmocka_unit_test(active_is_what_keeps_a_thread_from_resting),
		cmocka_unit_test(each_order_has_a_name_of_its_own_and_a_heading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
