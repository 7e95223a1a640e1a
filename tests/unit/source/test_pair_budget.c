// SPDX-License-Identifier: BSD-2-Clause
// a program of its own: stands in for probes
/* Tests what pairs of functions may cost, and which of them is let go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "source/regions/function_price.h"
#include "source/regions/pair_budget.h"

#define PAIRS	    3
#define NOT_OURS    2 /* a pair of the program's own probes */
#define CPUS	    2
#define EMULATED_NS 600
#define STEPPED_NS  8600
#define PROGRAM_NS  400
#define START_NS    (1000 * NS_PER_SECOND)
#define ROWS	    4

/* ---- probes that only say how many are on ---- */

struct region_probes {
	size_t on;
};

static size_t probes_on;
static bool begins_on, ends_on, begun_before_its_end;

int region_probes_copy(const struct region_probes *probes, struct region_probes **ret_probes)
{
	(void)probes;
	*ret_probes = calloc(1, sizeof(**ret_probes));
	return 0;
}

int region_probes_add(struct region_probes *probes, int fd, const struct region_sites *sites,
		      struct error *error)
{
	(void)error;
	assert_int_equal(fd, 5);
	probes->on += sites->items.count;
	probes_on += sites->items.count;
	array_foreach(&sites->items, site) {
		bool is_begin = site->description.role == PKBPF_SITE_ENTER;

		begun_before_its_end |= is_begin && !ends_on;
		begins_on |= is_begin;
		ends_on |= !is_begin;
	}
	return 0;
}

void region_probes_free(struct region_probes *probes)
{
	if (probes)
		probes_on -= probes->on;
	free(probes);
}

struct function_price function_price_measure(const struct region_probes *model,
					     struct pkbpf_span_site *site, uint32_t number)
{
	(void)model;
	(void)site;
	assert_int_equal(number, 9);
	return (struct function_price){EMULATED_NS, STEPPED_NS, PROGRAM_NS};
}

/* ---- a budget of three pairs, of which two are functions ---- */

static struct usdt_pair pairs[PAIRS] = {
	{.region = "step", .of_functions = true},
	{.region = "batch", .of_functions = true},
	{.region = "query", .provider = "postgresql"},
};
static struct region_pairs all_pairs;
static struct pkbpf_span_site sites[10];
static struct pkbpf_span_row rows[ROWS];
static struct pair_budget *budget;
static uint64_t now_ns;
static char warning[256];

static void write_warning(void *context, enum log_level level, const char *text)
{
	(void)context;
	assert_int_equal(level, LOG_WARNING);
	snprintf(warning, sizeof(warning), "%s", text);
}

static const struct log warnings = {.max_level = LOG_WARNING, .write = write_warning};

static void add_site(struct region_sites *file, uint32_t pair, uint32_t role, uint64_t cookie)
{
	struct region_site *site = array_add(&file->items);

	assert_non_null(site);
	*site = (struct region_site){
		.role = REGION_SITE,
		.description = {.role = role, .pair = pair + 1},
		.cookie = cookie,
		.is_emulated = role == PKBPF_SITE_ENTER,
	};
}

static int setup(void **state)
{
	static const struct region_probes model;
	struct pair_budget_options options = {.pairs = &all_pairs,
					      .cost_permille = 20,
					      .cpu_count = CPUS,
					      .log = &warnings,
					      .probes = &model};
	struct region_sites file = {0};
	struct error error;

	(void)state;
	all_pairs.items.items = pairs;
	all_pairs.items.count = PAIRS;
	memset(sites, 0, sizeof(sites));
	memset(rows, 0, sizeof(rows));
	for (uint32_t i = 0; i < ROWS; i++) {
		rows[i].pid = 100 + i;
		snprintf(rows[i].name, sizeof(rows[i].name), "%s", pairs[i % PAIRS].region);
	}
	rows[3].flags = PKBPF_REGION_FUNCTION;
	warning[0] = '\0';
	now_ns = START_NS;
	begins_on = ends_on = begun_before_its_end = false;
	assert_int_equal(pair_budget_new(&options, &budget), 0);
	pair_budget_begin(budget, sites, 9);
	for (uint32_t pair = 0; pair < PAIRS; pair++) {
		add_site(&file, pair, PKBPF_SITE_ENTER, 2 * pair);
		add_site(&file, pair, PKBPF_SITE_LEAVE, 2 * pair + 1);
	}
	assert_int_equal(pair_budget_take(budget, 5, &file, &error), 0);
	/* Those of the program's own probes are another's. */
	assert_int_equal(file.items.count, 2);
	assert_int_equal(file.items.items[0].cookie, 2 * NOT_OURS);
	region_sites_done(&file);
	pair_budget_poll(budget, now_ns, rows, ROWS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pair_budget_free(budget);
	return probes_on ? -1 : 0;
}

static void poll_after(uint64_t time_ns)
{
	now_ns += time_ns;
	pair_budget_poll(budget, now_ns, rows, ROWS);
}

/* Two percent of two CPUs are 40 ms in a second: so many calls, begins and ends, cost that. */
static uint64_t calls_of(uint64_t cost_ns)
{
	return cost_ns / (EMULATED_NS + STEPPED_NS + 2 * PROGRAM_NS);
}

static void call(uint32_t pair, uint64_t calls)
{
	sites[2 * pair].hits += calls;
	sites[2 * pair + 1].hits += calls;
}

static bool is_let_go(uint32_t row)
{
	return rows[row].flags & PKBPF_REGION_LET_GO;
}

/* ---- tests ---- */

static void ends_are_probed_before_begins(void **state)
{
	(void)state;
	assert_int_equal(probes_on, 4);
	assert_false(begun_before_its_end);
}

static void what_costs_little_stays(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		call(0, calls_of(19 * NS_PER_MS));
		call(1, calls_of(19 * NS_PER_MS));
		poll_after(NS_PER_SECOND);
	}
	assert_int_equal(probes_on, 4);
	assert_string_equal(warning, "");
	assert_false(is_let_go(0) || is_let_go(1));
}

static void hits_of_before_the_first_poll_are_forgiven(void **state)
{
	(void)state;
	call(0, calls_of(NS_PER_SECOND));
	/* Too early: a burst. */
	poll_after(199 * NS_PER_MS);
	assert_int_equal(probes_on, 4);
	assert_int_not_equal(sites[0].hits, 0);
}

static void the_dearest_is_let_go_first_and_the_other_stays(void **state)
{
	(void)state;
	call(0, calls_of(10 * NS_PER_MS));
	call(1, calls_of(45 * NS_PER_MS));
	poll_after(NS_PER_SECOND);
	assert_non_null(strstr(warning, "the region batch begins too often"));
	assert_non_null(strstr(warning, "--probe-cost"));
	/* None begins any more; those that are open can still end. */
	assert_int_equal(probes_on, 3);
	assert_true(is_let_go(1));
	assert_false(is_let_go(0) || is_let_go(2) || is_let_go(3));
	poll_after(NS_PER_SECOND - NS_PER_MS);
	assert_int_equal(probes_on, 3);
	poll_after(NS_PER_SECOND);
	assert_int_equal(probes_on, 2);
}

static void both_go_when_each_alone_is_too_dear(void **state)
{
	(void)state;
	call(0, calls_of(50 * NS_PER_MS));
	call(1, calls_of(60 * NS_PER_MS));
	poll_after(NS_PER_SECOND);
	assert_int_equal(probes_on, 2);
	assert_true(is_let_go(0) && is_let_go(1));
	/* One that has the name and is a call is not of the pair. */
	assert_false(is_let_go(3));
}

static void a_file_that_comes_later_brings_no_probes_of_what_was_let_go(void **state)
{
	struct region_sites file = {0};
	struct error error;

	(void)state;
	call(1, calls_of(NS_PER_SECOND));
	poll_after(NS_PER_SECOND);
	assert_int_equal(probes_on, 3);
	add_site(&file, 1, PKBPF_SITE_LEAVE, 6);
	add_site(&file, 1, PKBPF_SITE_ENTER, 7);
	assert_int_equal(pair_budget_take(budget, 5, &file, &error), 0);
	assert_int_equal(file.items.count, 0);
	assert_int_equal(probes_on, 3);
	region_sites_done(&file);
}

static void a_longer_time_allows_more(void **state)
{
	(void)state;
	call(0, calls_of(75 * NS_PER_MS));
	poll_after(2 * NS_PER_SECOND);
	assert_int_equal(probes_on, 4);
}

static void removal_takes_all_off(void **state)
{
	(void)state;
	pair_budget_remove(budget);
	assert_int_equal(probes_on, 0);
	poll_after(NS_PER_SECOND);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		test(ends_are_probed_before_begins),
		test(what_costs_little_stays),
		test(hits_of_before_the_first_poll_are_forgiven),
		test(the_dearest_is_let_go_first_and_the_other_stays),
		test(both_go_when_each_alone_is_too_dear),
		test(a_file_that_comes_later_brings_no_probes_of_what_was_let_go),
		test(a_longer_time_allows_more),
		test(removal_takes_all_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
