// SPDX-License-Identifier: BSD-2-Clause
/* Tests for alert/alerts where slices or rules are late: what nobody sees is told, and rules that
 * take long are looked at less often. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "alert/alerts_private.h"
#include "base/clock.h"
#include "finding/results.h"
#include "temp_store.h"
#include "temp_tree.h"

#define SECOND 1000000000LL
#define SLICE  (10 * SECOND)
#define BEGIN  (1700002800LL * SECOND)

static struct temp_tree tree;
static struct store *store;
static struct alerts *alerts;
static char told[128];

static void tell(void *context, const struct alert_news *news)
{
	size_t used = strlen(told);

	(void)context;
	snprintf(told + used, sizeof(told) - used, "%s%s ", news->fires ? "+" : "-",
		 news->rule->name);
}

static int setup(void **state)
{
	struct alert_rules rules;
	struct error error;
	struct ini ini;
	char text[] = "";

	(void)state;
	store = temp_store_open(&tree);
	if (ini_parse(text, &ini, &error) < 0 || alert_rules_read(&ini, true, &rules, &error) < 0)
		fail_msg("%s", error.text);
	alerts = alerts_new(&rules, store);
	assert_non_null(alerts);
	alert_rules_done(&rules);
	ini_done(&ini);
	told[0] = '\0';
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	alerts_free(alerts);
	store_close(store);
	temp_tree_done(&tree);
	return 0;
}

/* A slice that ends now. Returns its end. */
static int64_t add_slice(void)
{
	const struct resource_rows *rows;
	struct fake_profile machine;
	struct profile_info *info;
	struct results results;
	uint64_t end_ns = clock_now_ns();

	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, 0, 0);
	account_end(&machine);
	info = profile_info(machine.profile);
	info->start_unix_ns = BEGIN;
	info->end_ns = end_ns;
	info->start_ns = end_ns - (uint64_t)SLICE;
	results_init(&results, machine.profile, ROWS_BY_CONTAINER);
	assert_int_equal(results_rows(&results, &rows), 0);
	assert_int_equal(alerts_add(alerts, rows, tell, NULL), 0);
	results_done(&results);
	fake_profile_done(&machine);
	return (int64_t)end_ns;
}

static void tick(int64_t now_ns)
{
	alerts_tick(alerts, (struct alert_time){BEGIN + now_ns, now_ns}, tell, NULL);
}

static void slices_that_do_not_come_are_told(void **state)
{
	int64_t end;

	(void)state;
	tick((int64_t)clock_now_ns());
	end = add_slice();
	tick(end + 15 * SECOND);
	assert_string_equal(told, "");
	tick(end + 30 * SECOND);
	tick(end + 45 * SECOND);
	assert_string_equal(told, "");
	tick(end + 60 * SECOND);
	assert_string_equal(told, "+pkbpf-late ");
}

static void rules_that_take_long_are_looked_at_less_often(void **state)
{
	int64_t took_ns;

	(void)state;
	assert_int_equal(alert_look_pause(60 * SECOND, SECOND), 60 * SECOND);
	assert_int_equal(alert_look_pause(60 * SECOND, 4 * SECOND), 80 * SECOND);
	assert_int_equal(alert_look_pause(0, 1000000), 20000000);
	assert_null(alerts_slow_rule(alerts, &took_ns));
	alerts->rules.items[0].postponed = 1;
	alerts->rules.items[0].took_ns = 4 * SECOND;
	alerts->rules.items[1].took_ns = 5 * SECOND;
	assert_string_equal(alerts_slow_rule(alerts, &took_ns), "cpu-busy");
	assert_int_equal(took_ns, 4 * SECOND);
}

static void what_is_skipped_is_written(void **state)
{
	const struct resource_rows *rows;
	struct fake_profile machine;
	struct results results;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, 0, 0);
	account_end(&machine);
	results_init(&results, machine.profile, ROWS_BY_CONTAINER);
	assert_int_equal(results_rows(&results, &rows), 0);
	alerts_note(alerts, rows);
	alerts_note(alerts, rows);
	results_done(&results);
	fake_profile_done(&machine);
	alerts->rules.items[0].postponed = 3;
	alerts_write_json(alerts, out);
	alerts_write_metrics(alerts, out);
	fclose(out);
	assert_non_null(strstr(text, "\"skipped_slices\":2}"));
	assert_non_null(strstr(text, "\"postponed\":3,"));
	assert_non_null(strstr(text, "\npkbpf_alert_looks_postponed_total 3\n"));
	assert_non_null(strstr(text, "\"clock_ahead_s\":0,"));
	free(text);
}

/* The kinds of a merge that some rules share. */
static void rules_say_which_kinds_they_look_at(void **state)
{
	static const struct {
		const char *when;
		uint32_t kinds;
	} cases[] = {
		{"function[a].self > 10%", 1U << PKBPF_PROFILE_CPU},
		{"*:offcpu.p99 > 5ms", 1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_OFFCPU},
		{"*:memory.rss_growth > 5M", 1U << PKBPF_PROFILE_CPU},
		{"blockio.p99 > 5ms", 1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_BLOCKIO},
		{"region[a].p99 > 5ms", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct alert_rule rule = {.term_count = 1};
		struct error error;

		if (alert_term_parse(cases[i].when, &rule.terms[0], &error) < 0)
			fail_msg("%s", error.text);
		assert_int_equal(alert_kinds(&rule), cases[i].kinds);
		assert_false(alert_is_of_host(&rule));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(slices_that_do_not_come_are_told),
		TEST(rules_that_take_long_are_looked_at_less_often),
		TEST(what_is_skipped_is_written),
		TEST(rules_say_which_kinds_they_look_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
