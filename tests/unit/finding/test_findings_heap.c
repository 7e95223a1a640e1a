// SPDX-License-Identifier: BSD-2-Clause
/* Tests figures of sampled heaps, and the finding of memory that an allocator keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "account_machine.h"
#include "finding_fixture.h"
#include "rows/figure_table.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL
#define MIB    (1ULL << 20)
#define KINDS                                                                                      \
	(1U << PKBPF_PROFILE_FAULTS | 1U << PKBPF_PROFILE_ALLOC | 1U << PKBPF_PROFILE_LIVE |       \
	 1U << PKBPF_PROFILE_MEMORY)

/* A process with 200 MiB, all private, whose heap had 160 MiB at most; so much of it is alive. */
static void begin(struct fake_profile *fake, uint64_t live, uint64_t objects)
{
	struct process *process;
	const struct profile_row *rows;
	size_t count;

	account_begin(fake, KINDS, SECOND, 19 * SECOND);
	account_process(fake, &(struct account_process){.pid = 7,
							.comm = "app",
							.run_ns = MS,
							.start_rss_bytes = 200 * MIB,
							.rss_bytes = 200 * MIB});
	account_faults(fake, 7, "app", 1, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	process = process_table_get(fake->processes, 7, "app");
	rows = profile_rows(fake->profile, &count);
	assert_int_equal(count, 1);
	assert_int_equal(
		profile_add(fake->profile, &(struct profile_row){.kind = PKBPF_PROFILE_LIVE,
								 .process = process->id,
								 .tid = PROFILE_NO_THREAD,
								 .comm = rows[0].comm,
								 .stack = rows[0].stack,
								 .count = objects,
								 .weight = live}),
		0);
	assert_int_equal(
		heap_list_add(profile_heaps(fake->profile),
			      &(struct heap_place){
				      .pid = 7,
				      .comm = "app",
				      .stack = profile_rows(fake->profile, &count)[0].stack,
				      .trend = HEAP_TREND_GROWS,
				      .live = {.bytes = live, .objects = objects, .samples = 9},
				      .growth_bytes = MIB,
				      .growth_per_second = 1000,
				      .peak_bytes = 160 * MIB,
				      .mean_bytes = 90 * MIB,
				      .peak_ns = ACCOUNT_START_NS + SECOND}),
		0);
	account_end(fake);
}

static void blocks_that_keep_each_page_are_told(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	begin(&fake, 10 * MIB, 40000);
	findings = findings_of(&fake);
	expect(&findings, "heap_kept",
	       "app 7: holds 150 MiB that it has freed in `list_append`; its heap fell from "
	       "160 MiB to 10.0 MiB, resident memory is 200 MiB (peak 200 MiB); 40,000 blocks "
	       "are "
	       "alive, most from there, enough to keep each page. Next: keep blocks that live long "
	       "apart from those that do not: in memory of their own, or allocated before");
}

static void pages_without_any_block_can_be_given_back(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	begin(&fake, MIB, 100);
	findings = findings_of(&fake);
	expect(&findings, "heap_kept",
	       "app 7: holds 159 MiB that it has freed; its heap fell from 160 MiB to 1.00 MiB, "
	       "resident memory is 200 MiB (peak 200 MiB). Next: malloc_trim(0) gives whole free "
	       "pages back (glibc)");
}

static void less_than_half_of_the_memory_is_no_finding(void **state)
{
	struct fake_profile fake;
	struct findings findings;

	begin(&fake, 70 * MIB, 100);
	findings = findings_of(&fake);
	assert_null(finding_of(&findings, "heap_kept"));
}

static double value_of(const struct resource_rows *rows, const char *name, bool *ret_known)
{
	double value = -1;

	*ret_known = figure_value(figure_find(name), rows, &rows->items[0], &value);
	return value;
}

static void heaps_are_figures(void **state)
{
	struct fake_profile fake;
	struct resource_rows rows;
	bool known;

	begin(&fake, 10 * MIB, 40000);
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_COMM), 0);
	assert_true(value_of(&rows, "memory.heap_live", &known) == 10.0 * MIB && known);
	assert_true(value_of(&rows, "memory.heap_peak", &known) == 160.0 * MIB && known);
	assert_true(value_of(&rows, "memory.heap_mean", &known) == 90.0 * MIB && known);
	/* 150 MiB were freed; RSS fell by less. */
	assert_true(value_of(&rows, "memory.heap_kept", &known) > 0 && known);
	assert_true(value_of(&rows, "memory.heap_growth", &known) == 1000 && known);
	assert_true(value_of(&rows, "memory.private", &known) == 200.0 * MIB && known);
	assert_int_equal(rows.total.heap.growth_bytes, 1000);
	resource_rows_done(&rows);
	fake_profile_done(&fake);
}

/* In windows frees are not seen. */
static void what_lives_is_not_known_of_windows(void **state)
{
	struct fake_profile fake;
	struct resource_rows rows;
	bool known;

	account_begin(&fake, KINDS, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 7, .comm = "app", .run_ns = MS});
	profile_info(fake.profile)->counters[PKBPF_COUNTER_ALLOC_WINDOWS] = 3;
	account_end(&fake);
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	value_of(&rows, "memory.heap_live", &known);
	assert_false(known);
	value_of(&rows, "memory.heap_allocated", &known);
	assert_true(known);
	resource_rows_done(&rows);
	fake_profile_done(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_that_keep_each_page_are_told),
		cmocka_unit_test(pages_without_any_block_can_be_given_back),
		cmocka_unit_test(less_than_half_of_the_memory_is_no_finding),
		cmocka_unit_test(heaps_are_figures),
		cmocka_unit_test(what_lives_is_not_known_of_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
