// SPDX-License-Identifier: BSD-2-Clause
/* Tests the sums of rows of one name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "rows/row_groups.h"

static double uses_a_cpu(const struct resource_rows *rows, const struct resource_row *row)
{
	return row->cpu.total_ns ? row->cpu.share : -1;
}

static void a_group_has_the_sum_or_the_largest_of_each_figure(void **state)
{
	struct resource_row items[] = {
		{.pid = 1,
		 .name = "worker",
		 .known = ROW_HAS_USAGE,
		 .processes = 1,
		 .threads_seen = 2,
		 .lifetime_ns = 5,
		 .cpu = {.total_ns = 10, .share = 12.5},
		 .waits = {.runqueue_ns = 3, .runqueue = {.p99_ns = 9, .max_ns = 9}},
		 .memory = {.rss_growth_bytes = -5, .peak_rss_bytes = 7, .oom_killed = 1},
		 .storage.read_bytes = 100},
		{.pid = 2,
		 .name = "worker",
		 .known = ROW_HAS_RSS,
		 .processes = 1,
		 .threads_seen = 1,
		 .lifetime_ns = 6,
		 .cpu = {.total_ns = 20, .share = 25},
		 .waits = {.runqueue_ns = 4, .runqueue = {.p99_ns = 8, .max_ns = 30}},
		 .memory = {.rss_growth_bytes = 2, .peak_rss_bytes = 4, .oom_killed = 2},
		 .storage.read_bytes = 1},
		{.pid = 3, .name = "other", .cpu = {.total_ns = 1, .share = 99}},
		{.pid = 4, .name = "worker", .storage.read_bytes = 1000},
	};
	struct profile *profile = profile_new(NULL);
	struct resource_rows rows = {
		.items = items, .all_count = ARRAY_SIZE(items), .profile = profile};
	const struct resource_row *sum;
	struct row_groups groups;

	row_groups_find(&groups, &rows, uses_a_cpu);
	assert_int_equal(groups.count, 2);
	assert_string_equal(groups.items[0].worst->name, "other");
	assert_int_equal(groups.items[1].count, 2);
	assert_int_equal(groups.items[1].worst->pid, 2);
	sum = &groups.items[1].sum;
	assert_int_equal(sum->known, ROW_HAS_USAGE | ROW_HAS_RSS);
	assert_int_equal(sum->processes, 2);
	assert_int_equal(sum->threads_seen, 3);
	assert_int_equal(sum->lifetime_ns, 11);
	assert_int_equal(sum->cpu.total_ns, 30);
	assert_true(sum->cpu.share == 37.5);
	assert_int_equal(sum->waits.runqueue_ns, 7);
	assert_int_equal(sum->waits.runqueue.p99_ns, 9);
	assert_int_equal(sum->waits.runqueue.max_ns, 30);
	assert_int_equal(sum->memory.rss_growth_bytes, -3);
	assert_int_equal(sum->memory.peak_rss_bytes, 7);
	assert_int_equal(sum->memory.oom_killed, 3);
	assert_int_equal(sum->storage.read_bytes, 101);
	row_groups_done(&groups);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_has_the_sum_or_the_largest_of_each_figure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
