// SPDX-License-Identifier: BSD-2-Clause
/* Tests what is usual at an hour of the day. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "account_machine.h"
#include "alert/alerts.h"
#include "alert/baseline.h"
#include "finding/results.h"
#include "temp_store.h"
#include "temp_tree.h"

#define SECOND 1000000000LL
#define SLICE  (60 * SECOND)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)
/* Midnight. */
#define BEGIN (19676LL * 24 * HOUR)
#define MS    1000000ULL

static struct temp_tree tree;
static struct store *store;
static char told[4096];

static int setup(void **state)
{
	store = temp_store_open(&tree);
	told[0] = '\0';
	return 0;
}

static int teardown(void **state)
{
	store_close(store);
	temp_tree_done(&tree);
	return 0;
}

static void tell(void *context, const struct alert_news *news)
{
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s ", news->fires ? "+" : "-",
		 news->rule->name);
}

/* A minute of requests of so many ms. */
static void add_minute(struct alerts *alerts, int64_t at_unix_ns, uint64_t each_ms)
{
	const struct resource_rows *rows;
	struct fake_profile machine;
	struct profile_info *info;
	struct results results;

	account_begin(&machine, 1U << PKBPF_PROFILE_BLOCKIO, 0, 20 * (uint64_t)SECOND);
	account_process(&machine, &(struct account_process){.pid = 812, .comm = "postgres"});
	account_requests(&machine, 812, "postgres", PKBPF_BLOCKIO_READ, 100, 4096, each_ms * MS,
			 1000);
	account_end(&machine);
	info = profile_info(machine.profile);
	info->start_unix_ns = at_unix_ns;
	info->start_ns = (uint64_t)(at_unix_ns - BEGIN + 1000 * SECOND);
	info->end_ns = info->start_ns + SLICE;
	assert_int_equal(store_add(store, machine.profile, NULL), 0);
	results_init(&results, machine.profile, ROWS_BY_CONTAINER);
	assert_int_equal(results_rows(&results, &rows), 0);
	assert_int_equal(alerts_add(alerts, rows, tell, NULL), 0);
	results_done(&results);
	fake_profile_done(&machine);
}

static struct alerts *alerts_of(const char *text)
{
	char *copy = strdup(text);
	struct alert_rules rules;
	struct alerts *alerts;
	struct error error;
	struct ini ini;

	assert_int_equal(ini_parse(copy, &ini, &error), 0);
	if (alert_rules_read(&ini, false, &rules, &error) < 0)
		fail_msg("%s", error.text);
	alerts = alerts_new(&rules, store);
	assert_non_null(alerts);
	alert_rules_done(&rules);
	ini_done(&ini);
	free(copy);
	return alerts;
}

static void an_hour_that_is_always_busy_is_usual(void **state)
{
	struct alerts *alerts = alerts_of("[alert io]\nwhen = blockio.p99 > 1.2 usual + 4 spread\n"
					  "clear-for = 1m\n");

	/* At three o'clock requests take 50 ms each day, else 2. */
	for (int64_t day = 0; day < 5; day++)
		for (int64_t hour = 2; hour < 5; hour++)
			for (int64_t minute = 0; minute < 60; minute++)
				add_minute(alerts, BEGIN + day * DAY + hour * HOUR + minute * SLICE,
					   hour == 3 ? 50 + (uint64_t)(day % 2) : 2);
	assert_string_equal(told, "");
	/* What is usual at three is not at two. */
	for (int64_t minute = 0; minute < 5; minute++)
		add_minute(alerts, BEGIN + 5 * DAY + 2 * HOUR + minute * SLICE, 50);
	assert_string_equal(told, "+io ");
	alerts_free(alerts);
}

static void it_learns_for_three_days(void **state)
{
	struct alerts *alerts = alerts_of("[alert io]\nwhen = blockio.p99 > 1.2 usual\n");
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (int64_t day = 0; day < 3; day++)
		for (int64_t minute = 0; minute < 60; minute++)
			add_minute(alerts, BEGIN + day * DAY + minute * SLICE, day == 2 ? 90 : 2);
	assert_string_equal(told, "");
	alerts_write_json(alerts, out);
	fclose(out);
	assert_non_null(strstr(text, "\"learning\":true"));
	free(text);
	alerts_free(alerts);
}

static void half_an_hour_is_no_hour(void **state)
{
	struct alerts *alerts = alerts_of("[alert io]\nwhen = blockio.p99 > 1.2 usual\n");

	for (int64_t day = 0; day < 4; day++)
		for (int64_t minute = 0; minute < 25; minute++)
			add_minute(alerts, BEGIN + day * DAY + minute * SLICE, day == 3 ? 90 : 2);
	assert_string_equal(told, "");
	alerts_free(alerts);
}

static void median_and_scatter_are_robust(void **state)
{
	double values[] = {100, 104, 96, 9000, 102, 98, 100};
	double same[] = {50, 50, 50};
	struct baseline baseline;

	baseline_of(values, 7, &baseline);
	assert_true(baseline.usual == 100);
	assert_true(baseline.spread > 2.9 && baseline.spread < 3);
	baseline_of(same, 3, &baseline);
	assert_true(baseline.spread == 1);
}

/* A backup of a minute each hour makes the p99 of the hour, but not that of five minutes. */
static void percentiles_are_compared_with_those_of_minutes(void **state)
{
	struct alerts *alerts = alerts_of("[alert io]\nwhen = blockio.p99 > 1.2 usual\nover = 5m\n"
					  "clear-for = 1h\n");

	(void)state;
	for (int64_t day = 0; day < 3; day++)
		for (int64_t minute = 0; minute < 60; minute++)
			add_minute(alerts, BEGIN + day * DAY + minute * SLICE,
				   minute == 30 ? 90 : 2);
	told[0] = '\0';
	for (int64_t minute = 0; minute < 10; minute++)
		add_minute(alerts, BEGIN + 3 * DAY + minute * SLICE, 50);
	assert_string_equal(told, "+io ");
	alerts_free(alerts);
}

static void a_day_before_is_the_same_time_of_day(void **state)
{
	/* Half past nine in Berlin, the day after summer time began. */
	const int64_t monday = 1774855800LL * SECOND;

	(void)state;
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	assert_int_equal(baseline_days_before(monday, 1), monday - 24 * HOUR);
	assert_int_equal(baseline_days_before(monday, 2), monday - 47 * HOUR);
	assert_int_equal(baseline_days_before(monday, 7), monday - 167 * HOUR);
	unsetenv("TZ");
	tzset();
}

static void an_alert_waits_for_the_one_that_explains_it(void **state)
{
	struct alerts *alerts = alerts_of(
		"[alert disk]\nwhen = blockio.p50 > 10ms\nclear-for = 1m\n"
		"[alert database]\nwhen = postgres:blockio.p99 > 5ms\nunless = disk\nclear-for = "
		"1m\n");

	add_minute(alerts, BEGIN, 50);
	add_minute(alerts, BEGIN + SLICE, 50);
	assert_string_equal(told, "+disk ");
	/* The disk is well again, the database is not. */
	for (int64_t minute = 2; minute < 6; minute++)
		add_minute(alerts, BEGIN + minute * SLICE, 7);
	assert_string_equal(told, "+disk -disk +database ");
	alerts_free(alerts);
}

static void what_fired_fires_after_a_restart(void **state)
{
	static const char rules[] = "[alert io]\nwhen = blockio.p50 > 10ms\nclear-for = 1m\n";
	struct alerts *alerts = alerts_of(rules), *next = alerts_of(rules), *late;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	add_minute(alerts, BEGIN, 50);
	assert_string_equal(told, "+io ");
	assert_true(alerts_changes(alerts) > 0);
	alerts_write_memory(alerts, BEGIN + SLICE, out);
	fclose(out);
	alerts_free(alerts);
	assert_int_equal(alerts_read_memory(next, text, (struct alert_time){BEGIN + 2 * SLICE, 0}),
			 0);
	/* It is not told again, but its end is. */
	add_minute(next, BEGIN + 3 * SLICE, 50);
	assert_string_equal(told, "+io ");
	for (int64_t minute = 4; minute < 7; minute++)
		add_minute(next, BEGIN + minute * SLICE, 1);
	assert_string_equal(told, "+io -io ");
	alerts_free(next);
	/* What is old says nothing. */
	late = alerts_of(rules);
	assert_int_equal(alerts_read_memory(late, text, (struct alert_time){BEGIN + HOUR, 0}), 0);
	add_minute(late, BEGIN + HOUR, 1);
	add_minute(late, BEGIN + HOUR + SLICE, 1);
	assert_string_equal(told, "+io -io ");
	assert_int_equal(alerts_read_memory(late, "{\"version\":1,\"states\":[{}, 7]",
					    (struct alert_time){BEGIN, 0}),
			 0);
	assert_int_equal(alerts_read_memory(late, "[]", (struct alert_time){BEGIN, 0}), 0);
	alerts_free(late);
	free(text);
}

static void terms_of_the_past_are_read(void **state)
{
	struct alert_term term;
	struct error error;

	assert_int_equal(alert_term_parse("cpu.share > usual", &term, &error), 0);
	assert_true(term.is_past && term.usual == 1 && term.spread == 0);
	assert_int_equal(alert_term_parse("pg:blockio.p99>1.5 usual + 4 spread", &term, &error), 0);
	assert_true(term.usual == 1.5 && term.spread == 4);
	assert_int_equal(alert_term_parse("function[parse].self > usual + spread", &term, &error),
			 0);
	assert_true(term.spread == 1 && term.subject == ALERT_OF_FUNCTION);
	assert_int_equal(alert_term_parse("memory.rss > 2usual", &term, &error), 0);
	assert_int_equal(alert_term_parse("cpu.share > usual - spread", &term, &error), -EINVAL);
	assert_int_equal(alert_term_parse("*:cpu.share > usual", &term, &error), -EINVAL);
	assert_int_equal(alert_term_parse("machine.io_pressure > usual", &term, &error), -EINVAL);
	assert_int_equal(alert_term_parse("cpu.nothing > usual", &term, &error), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(an_hour_that_is_always_busy_is_usual),
		TEST(it_learns_for_three_days),
		TEST(half_an_hour_is_no_hour),
		TEST(median_and_scatter_are_robust),
		TEST(percentiles_are_compared_with_those_of_minutes),
		cmocka_unit_test(a_day_before_is_the_same_time_of_day),
		TEST(an_alert_waits_for_the_one_that_explains_it),
		TEST(what_fired_fires_after_a_restart),
		TEST(terms_of_the_past_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
