// SPDX-License-Identifier: BSD-2-Clause
/* Tests for rows/row_outermost: the region that stands for a process, a comm or nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "region_record.h"
#include "rows/resource_rows.h"

#define MS 1000000ULL

static struct fake_profile fake;
static struct resource_rows rows;

static void send_region(uint32_t pid, const char *outer, const char *inner, uint64_t count,
			uint64_t wall_ns)
{
	region_record_send(aggregator_sink(fake.aggregator), pid, outer, inner, count, wall_ns);
}

static void account(uint32_t pid, const char *comm)
{
	account_process(&fake, &(struct account_process){.pid = pid, .comm = comm, .run_ns = MS});
}

static int setup(void **state)
{
	(void)state;
	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, MS, 0);
	account(7, "train");
	account(8, "train");
	account(9, "idle");
	send_region(7, "step", "load", 10, 50 * MS);
	send_region(7, "step", NULL, 10, 10 * MS);
	send_region(7, "save", NULL, 1, 80 * MS);
	send_region(8, "save", NULL, 2, 30 * MS);
	/* Without an account, samples or waits. */
	send_region(12, "unknown", NULL, 1, 900 * MS);
	account_end(&fake);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	resource_rows_done(&rows);
	fake_profile_done(&fake);
	return 0;
}

static const struct row_region *region_of(uint32_t pid, const char *name)
{
	for (size_t i = 0; i < rows.all_count; i++)
		if (rows.items[i].pid == pid && strcmp(rows.items[i].name, name) == 0)
			return &rows.items[i].region;
	fail_msg("there is no row of %s %u", name, pid);
	return NULL;
}

/* What is inside of another is not looked at, however long. */
static void of_a_process_it_is_the_longest_outermost_one(void **state)
{
	size_t count;

	(void)state;
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	assert_string_equal(region_of(7, "train")->name, "step");
	assert_int_equal(region_of(7, "train")->wall_ns, 100 * MS);
	assert_int_equal(region_of(7, "train")->count, 10);
	assert_int_equal(region_of(7, "train")->missed_ns, 0);
	assert_string_equal(region_of(8, "train")->name, "save");
	assert_null(region_of(9, "idle")->name);
	/* No row is made for a region alone. */
	count = 0;
	for (size_t i = 0; i < rows.all_count; i++)
		count += rows.items[i].pid == 12;
	assert_int_equal(count, 0);
}

static void processes_of_a_comm_are_added_up(void **state)
{
	(void)state;
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_COMM), 0);
	assert_string_equal(region_of(0, "train")->name, "save");
	assert_int_equal(region_of(0, "train")->wall_ns, 140 * MS);
	assert_int_equal(region_of(0, "train")->count, 3);
}

static void time_without_probes_is_in_it(void **state)
{
	const struct region_gap gap = {.missed_ns = 5 * MS,
				       .name = profile_intern_comm(fake.profile, "save")};

	(void)state;
	assert_int_equal(region_gaps_add(profile_region_gaps(fake.profile), &gap), 0);
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	assert_int_equal(region_of(8, "train")->missed_ns, 5 * MS);
	assert_int_equal(region_of(7, "train")->missed_ns, 0);
}

static void threads_have_none(void **state)
{
	(void)state;
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_THREAD), 0);
	for (size_t i = 0; i < rows.all_count; i++)
		assert_null(rows.items[i].region.name);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(of_a_process_it_is_the_longest_outermost_one),
		TEST(processes_of_a_comm_are_added_up),
		TEST(time_without_probes_is_in_it),
		TEST(threads_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
