// SPDX-License-Identifier: BSD-2-Clause
/* Tests for memory over time: peaks, and the mean of processes and of groups. */
#include "rows/memory_series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "account_machine.h"
#include "base/clock.h"
#include "rows/resource_rows.h"

#define MS  1000000ULL
#define MIB (1ULL << 20)

static void add_point(struct fake_profile *fake, uint32_t pid, uint64_t time_ns, uint64_t mib)
{
	struct memory_point point = {.pid = pid, .time_ns = time_ns, .anonymous = mib * MIB};

	assert_int_equal(memory_list_add(profile_memory(fake->profile), &point), 0);
}

/* 100 MiB for a second, then 300 MiB for three; what rises between them counts half. Slices repeat
 * the point between them. */
static void add_steps(struct fake_profile *fake, uint32_t pid, uint64_t begin_ns)
{
	add_point(fake, pid, begin_ns, 100);
	add_point(fake, pid, begin_ns + NS_PER_SECOND, 100);
	add_point(fake, pid, begin_ns + NS_PER_SECOND, 100);
	add_point(fake, pid, begin_ns + 2 * NS_PER_SECOND, 300);
	add_point(fake, pid, begin_ns + 4 * NS_PER_SECOND, 300);
}

static void add_process(struct fake_profile *fake, uint32_t pid)
{
	account_process(fake, &(struct account_process){.pid = pid,
							.comm = "app",
							.run_ns = MS,
							.start_rss_bytes = MIB,
							.rss_bytes = MIB});
}

static void a_mean_is_weighted_by_time(void **state)
{
	struct memory_rows rows;
	struct fake_profile fake;

	(void)state;
	fake_profile_init(&fake, NULL);
	add_steps(&fake, 5, NS_PER_SECOND);
	add_point(&fake, 6, NS_PER_SECOND, 7);
	assert_int_equal(memory_rows_make(fake.profile, &rows), 0);
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.items[0].count, 4);
	assert_int_equal(memory_row_mean(&rows.items[0]), (100 + 200 + 2 * 300) / 4 * MIB);
	/* Of one point there is no other. */
	assert_int_equal(memory_row_mean(&rows.items[1]), 7 * MIB);
	memory_rows_done(&rows);
	fake_profile_done(&fake);
}

static void processes_beside_each_other_add_up(void **state)
{
	struct resource_rows rows;
	struct fake_profile fake;

	(void)state;
	account_begin(&fake, 0, NS_PER_SECOND, 19 * NS_PER_SECOND);
	add_process(&fake, 5);
	add_process(&fake, 6);
	add_process(&fake, 7);
	account_end(&fake);
	add_steps(&fake, 5, ACCOUNT_START_NS);
	add_steps(&fake, 6, ACCOUNT_START_NS + 4 * NS_PER_SECOND);
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	assert_true(rows.total.known & ROW_HAS_MEAN_RSS);
	assert_int_equal(rows.total.memory.mean_rss_bytes, 225 * MIB);
	for (size_t i = 0; i < rows.count; i++) {
		bool is_known = rows.items[i].known & ROW_HAS_MEAN_RSS;

		assert_int_equal(is_known, rows.items[i].pid != 7);
		assert_int_equal(rows.items[i].memory.mean_rss_bytes, is_known ? 225 * MIB : 0);
	}
	resource_rows_done(&rows);
	fake_profile_done(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mean_is_weighted_by_time),
		cmocka_unit_test(processes_beside_each_other_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
