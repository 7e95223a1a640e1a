// SPDX-License-Identifier: BSD-2-Clause
/* Tests in which windows a promise was kept. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "alert/objective.h"
#include "region_window.h"
#include "temp_store.h"
#include "temp_tree.h"

#define SECOND 1000000000LL
#define SLICE  (10 * SECOND)
/* On the hour. */
#define BEGIN	(1700002800LL * SECOND)
#define FOREVER INT64_MAX
#define MS	1000000ULL

static struct temp_tree tree;
static struct store *store;

static int setup(void **state)
{
	store = temp_store_open(&tree);
	return 0;
}

static int teardown(void **state)
{
	store_close(store);
	temp_tree_done(&tree);
	return 0;
}

/* The n-th slice: a database with this many requests of so many ms. */
static void add(int64_t n, uint64_t requests, uint64_t each_ms)
{
	struct fake_profile machine;
	struct profile_info *info;

	account_begin(&machine, 1U << PKBPF_PROFILE_BLOCKIO, 0, 20 * (uint64_t)SECOND);
	account_process(&machine, &(struct account_process){.pid = 812, .comm = "postgres"});
	if (requests)
		account_requests(&machine, 812, "postgres", PKBPF_BLOCKIO_READ, requests, 4096,
				 each_ms * MS, 1000);
	account_end(&machine);
	info = profile_info(machine.profile);
	info->start_ns = (uint64_t)(1000 * SECOND + n * SLICE);
	info->end_ns = info->start_ns + SLICE;
	info->start_unix_ns = BEGIN + n * SLICE;
	assert_int_equal(store_add(store, machine.profile, NULL), 0);
	fake_profile_done(&machine);
}

static struct objective_result *measure(const struct objectives *objectives)
{
	struct history_range all = {0, FOREVER};
	struct error error;
	struct objective_result *results;

	if (objectives_measure(objectives, store, &all, &results, &error) < 0)
		fail_msg("%s", error.text);
	return results;
}

static void a_percentile_of_a_window_is_that_of_all_its_requests(void **state)
{
	struct objectives objectives = {0};
	struct objective_result *results;
	struct error error;

	/* A minute with one slow slice of few requests, and one with many of them. */
	for (int64_t n = 0; n < 6; n++)
		add(n, n == 3 ? 10 : 1000, n == 3 ? 50 : 2);
	for (int64_t n = 6; n < 12; n++)
		add(n, 1000, n == 7 ? 50 : 2);
	assert_int_equal(objectives_add(&objectives, "io", "postgres:blockio.p99 < 20ms", &error),
			 0);
	results = measure(&objectives);
	assert_int_equal(results[0].kept, 1);
	assert_int_equal(results[0].missed, 1);
	assert_int_equal(results[0].unknown, 0);
	assert_in_range(results[0].worst, 45 * MS, 55 * MS);
	assert_int_equal(results[0].misses.count, 1);
	assert_int_equal(results[0].misses.items[0].range.from_unix_ns, BEGIN + 6 * SLICE);
	assert_true(objective_share(&results[0]) == 50);
	assert_false(objective_is_met(&results[0]));
	objective_results_free(results, 1);
	objectives_done(&objectives);
}

static void a_window_without_requests_counts_neither_way(void **state)
{
	struct objectives objectives = {0};
	struct objective_result *results;
	struct error error;

	for (int64_t n = 0; n < 12; n++)
		add(n, n < 6 ? 100 : 0, 2);
	assert_int_equal(objectives_add(&objectives, "io", "postgres:blockio.p99 < 20ms", &error),
			 0);
	assert_int_equal(objectives_add(&objectives, "nobody", "nginx:blockio.p99 < 20ms", &error),
			 0);
	assert_int_equal(objectives_add(&objectives, "region", "region[a].p99 < 1s", &error), 0);
	results = measure(&objectives);
	assert_int_equal(results[0].kept, 1);
	assert_int_equal(results[0].unknown, 1);
	assert_true(objective_is_met(&results[0]));
	assert_int_equal(results[1].kept + results[1].missed, 0);
	assert_true(objective_share(&results[1]) < 0);
	assert_int_equal(results[2].unknown, 2);
	objective_results_free(results, 3);
	objectives_done(&objectives);
}

/* The n-th slice, with regions that were recorded for all of it, or not at all. */
static void add_regions(int64_t n, const struct region_window *window)
{
	struct fake_profile machine;
	struct profile_info *info;

	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, 0, 20 * (uint64_t)SECOND);
	account_process(&machine, &(struct account_process){.pid = 812, .comm = "server"});
	account_end(&machine);
	if (window)
		region_window_add(machine.profile, window);
	info = profile_info(machine.profile);
	info->start_ns = (uint64_t)(1000 * SECOND + n * SLICE);
	info->end_ns = info->start_ns + SLICE;
	info->start_unix_ns = BEGIN + n * SLICE;
	info->regions_ns = window ? (uint64_t)SLICE : 0;
	assert_int_equal(store_add(store, machine.profile, NULL), 0);
	fake_profile_done(&machine);
}

/* The histogram cannot tell 100.1 ms from 100 ms: the counts do. */
static void long_regions_are_counted_one_by_one(void **state)
{
	const struct region_window all_kept = {"predict", 990, 99 * MS, 10, 101 * MS, 100 * MS, 0};
	const struct region_window one_too_many = {"predict",	      989,	99 * MS, 11,
						   100 * MS + 100000, 100 * MS, 0};
	struct objectives objectives = {0};
	struct objective_result *results;
	struct error error;

	for (int64_t n = 0; n < 12; n++)
		add_regions(n, n < 6 ? &all_kept : &one_too_many);
	for (int64_t n = 12; n < 18; n++)
		add_regions(n, NULL);
	assert_int_equal(objectives_add(&objectives, "p99", "region[predict].p99 < 100ms", &error),
			 0);
	assert_int_equal(
		objectives_add(&objectives, "share", "region[predict].over(100ms) < 1.05%", &error),
		0);
	assert_int_equal(objectives_add(&objectives, "other", "region[predict].p99 < 1s", &error),
			 0);
	results = measure(&objectives);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(results[i].kept, 1);
		assert_int_equal(results[i].missed, 1);
		assert_int_equal(results[i].unknown, 1); /* not watched */
		assert_int_equal(results[i].regions, 12000);
		assert_int_equal(results[i].violations, 6 * 10 + 6 * 11);
		assert_int_equal(results[i].uncounted, 0);
		assert_int_equal(results[i].misses.items[0].range.from_unix_ns, BEGIN + 6 * SLICE);
	}
	/* Counted from another limit on: its verdict is that of the percentile. */
	assert_int_equal(results[2].kept, 2);
	assert_int_equal(results[2].violations, 0);
	assert_int_equal(results[2].uncounted, 12000);
	objective_results_free(results, 3);
	objectives_done(&objectives);
}

static void a_window_that_was_hardly_watched_is_unknown(void **state)
{
	const struct region_window half = {"a", 100, MS, 0, MS, 0, SLICE / 2};
	const struct region_window hardly = {"a", 100, MS, 0, MS, 0, SLICE - SLICE / 20};
	const struct region_window none = {"a", 0, MS, 0, MS, 0, SLICE};
	struct objectives objectives = {0};
	struct objective_result *results;
	struct error error;

	for (int64_t n = 0; n < 12; n++)
		add_regions(n, n < 6 ? &half : &hardly);
	/* Nothing was counted, as there were no probes. */
	for (int64_t n = 12; n < 18; n++)
		add_regions(n, &none);
	assert_int_equal(objectives_add(&objectives, "a", "region[a].p99 < 1s", &error), 0);
	results = measure(&objectives);
	assert_int_equal(results[0].kept, 1);
	assert_int_equal(results[0].unknown, 2);
	assert_int_equal(results[0].regions_ns, 18 * SLICE);
	assert_int_equal(results[0].watched_ns, 6 * (SLICE / 2 + SLICE / 20));
	objective_results_free(results, 1);
	objectives_done(&objectives);
}

static int read(const char *text, struct objectives *objectives, struct error *error)
{
	char *copy = strdup(text);
	struct ini ini;
	int err = ini_parse(copy, &ini, error);

	*objectives = (struct objectives){0};
	err = err < 0 ? err : objectives_read(&ini, objectives, error);
	ini_done(&ini);
	free(copy);
	return err;
}

static void objectives_are_read_from_their_sections(void **state)
{
	struct objectives objectives;
	struct error error;

	assert_int_equal(read("[alert x]\nwhen = y\n[objective a]\nwhen = blockio.p99<1ms\n"
			      "over = 10m\ntarget = 99.9%\n[objective b]\nwhen = "
			      "region[predict].p99 < 100ms\n",
			      &objectives, &error),
			 0);
	assert_int_equal(objectives.list.count, 2);
	assert_int_equal(objectives.list.items[0].level, STORE_TEN);
	assert_true(objectives.list.items[0].target == 99.9);
	assert_int_equal(objectives.list.items[1].level, STORE_MINUTE);
	assert_int_equal(objectives.list.items[1].term.subject, ALERT_OF_REGION);
	objectives_done(&objectives);
}

static void errors_name_their_line(void **state)
{
	static const char *const wrong[][2] = {
		{"[objective]\nwhen = lost>1\n", "line 1: [objective NAME] requires a name"},
		{"[objective a]\nover = 1m\n", "[objective a] has no when"},
		{"[objective a]\nwhen = nothing.of_it<1\n", "line 2: unknown figure"},
		{"[objective a]\nover = 7m\n", "line 2: invalid value '7m' for over"},
		{"[objective a]\ntarget = 101%\n", "line 2: invalid value '101%' for target"},
		{"[objective a]\ntarget = 99\n", "line 2: invalid value '99' for target"},
		{"[objective a]\nx = 1\n", "line 2: unknown key 'x'"},
		{"[objective a]\nwhen = machine.io_pressure<5%\n", "line 2: 'machine.io_pressure"},
	};
	struct objectives objectives;
	struct error error;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(read(wrong[i][0], &objectives, &error), -EINVAL);
		if (!strstr(error.text, wrong[i][1]))
			fail_msg("'%s' instead of '%s'", error.text, wrong[i][1]);
		objectives_done(&objectives);
	}
}

static void what_is_not_recorded_is_refused(void **state)
{
	static const struct {
		const char *when;
		uint32_t kinds_mask;
		bool regions;
		const char *says; /* NULL: it is fine */
	} rows[] = {
		{"offcpu.p99 < 5ms", 1U << PKBPF_PROFILE_CPU, true, "add offcpu to --events"},
		{"offcpu.p99 < 5ms", 1U << PKBPF_PROFILE_OFFCPU, true, NULL},
		{"memory.heap_live < 1M", 1U << PKBPF_PROFILE_CPU, true, "add live to --events"},
		{"region[predict].p99 < 5ms", UINT32_MAX, false, "add --regions"},
		{"region[predict].p99 < 5ms", 1U << PKBPF_PROFILE_CPU, true, NULL},
		{"region[predict].sleep < 5s", 1U << PKBPF_PROFILE_CPU, true,
		 "add offcpu to --events"},
		{"region[predict].sleep < 5s", 1U << PKBPF_PROFILE_OFFCPU, true, NULL},
		{"function[f].self < 5%", 1U << PKBPF_PROFILE_BLOCKIO, true, "add cpu to --events"},
		{"cpu.share < 50%", 1U << PKBPF_PROFILE_CPU, true, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct objectives objectives = {0};
		struct error error;

		assert_int_equal(objectives_add(&objectives, "x", rows[i].when, &error), 0);
		if (objectives_check(&objectives, rows[i].kinds_mask, rows[i].regions, &error) !=
		    (rows[i].says ? -EINVAL : 0))
			fail_msg("%s", rows[i].when);
		if (rows[i].says)
			assert_non_null(strstr(error.text, rows[i].says));
		objectives_done(&objectives);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_percentile_of_a_window_is_that_of_all_its_requests, setup, teardown),
		cmocka_unit_test_setup_teardown(long_regions_are_counted_one_by_one, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_window_that_was_hardly_watched_is_unknown, setup,
						teardown),
		cmocka_unit_test(what_is_not_recorded_is_refused),
		cmocka_unit_test_setup_teardown(a_window_without_requests_counts_neither_way, setup,
						teardown),
		cmocka_unit_test(objectives_are_read_from_their_sections),
		cmocka_unit_test(errors_name_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
