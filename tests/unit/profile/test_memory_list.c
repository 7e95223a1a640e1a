// SPDX-License-Identifier: BSD-2-Clause
/* Memory of processes over time, when there are more points than room. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "profile/account/memory_list.h"

#define PROCESSES 100

static struct memory_point point_of(uint32_t pid, uint64_t time_ns, uint64_t bytes)
{
	return (struct memory_point){.pid = pid, .time_ns = time_ns, .anonymous = bytes};
}

static void points_that_come_later_have_room(void **state)
{
	struct memory_list list = {0};
	uint64_t times = 2 * MEMORY_POINTS_MAX / PROCESSES + 1, first = 0, last = 0, most = 0;

	for (uint64_t i = 0; i < times; i++) {
		for (uint32_t pid = 1; pid <= PROCESSES; pid++) {
			struct memory_point point = point_of(pid, i + 1, i == times / 3 ? 900 : 5);

			assert_int_equal(memory_list_add(&list, &point), 0);
		}
	}
	assert_true(list.items.count <= MEMORY_POINTS_MAX);
	assert_true(list.items.count >= MEMORY_POINTS_MAX / 4);
	array_foreach(&list.items, point) {
		first += point->time_ns == 1;
		last += point->time_ns == times;
		most += point->anonymous == 900;
	}
	/* Of each process both ends, and what it had most. */
	assert_int_equal(first, PROCESSES);
	assert_int_equal(last, PROCESSES);
	assert_int_equal(most, PROCESSES);
	array_free(&list.items);
}

static void too_many_processes_are_refused_not_dropped(void **state)
{
	struct memory_list list = {0};

	for (uint32_t pid = 1; pid <= MEMORY_POINTS_MAX; pid++) {
		struct memory_point point = point_of(pid, 1, 5);

		assert_int_equal(memory_list_add(&list, &point), 0);
	}
	for (int i = 0; i < 3; i++) {
		struct memory_point point = point_of(1, 2, 5);

		assert_int_equal(memory_list_add(&list, &point), -ENOSPC);
	}
	assert_int_equal(list.items.count, MEMORY_POINTS_MAX);
	array_free(&list.items);
}

static void a_series_keeps_its_ends_and_its_peak(void **state)
{
	struct memory_series *series = calloc(1, sizeof(*series));

	for (uint64_t i = 0; i < 10 * MEMORY_SERIES_POINTS; i++) {
		struct memory_point point = point_of(1, i + 1, i == 777 ? 100000 : i % 7);

		memory_series_add(series, &point);
	}
	assert_true(series->count <= MEMORY_SERIES_POINTS);
	assert_int_equal(series->points[0].time_ns, 1);
	assert_int_equal(series->points[series->count - 1].time_ns, 10 * MEMORY_SERIES_POINTS);
	for (size_t i = 0, peaks = 0; i < series->count; i++) {
		peaks += series->points[i].anonymous == 100000;
		assert_true(!i || series->points[i].time_ns > series->points[i - 1].time_ns);
		assert_true(i + 1 < series->count || peaks == 1);
	}
	free(series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_that_come_later_have_room),
		cmocka_unit_test(too_many_processes_are_refused_not_dropped),
		cmocka_unit_test(a_series_keeps_its_ends_and_its_peak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
