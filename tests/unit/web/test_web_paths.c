// SPDX-License-Identifier: BSD-2-Clause
/* Tests for web/web_paths and web_series: answers of a server on paper, with their status. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/slice/slice.h"
#include "temp_store.h"
#include "temp_tree.h"
#include "web/web_private.h"

#define SECOND 1000000000LL
#define NOW    (1700000000LL * SECOND)

static struct temp_tree tree;
static struct web web;
static struct web_query query;
static struct web_answer answer;

static int setup(void **state)
{
	(void)state;
	web = (struct web){.options = {.slice_ns = 10 * (uint64_t)SECOND}};
	web.store = temp_store_open(&tree);
	pthread_mutex_init(&web.lock, NULL);
	pthread_cond_init(&web.news, NULL);
	answer_cache_init(&web.cache);
	web_query_init(&query, NOW);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(answer.body);
	answer = (struct web_answer){0};
	metrics_done(&web.metrics);
	answer_cache_done(&web.cache);
	store_close(web.store);
	temp_tree_done(&tree);
	return 0;
}

/* The body ends in NUL, for the tests. */
static const char *ask(const char *path, unsigned int status)
{
	const struct web_path *found = web_path_find(path);
	char *whole;

	assert_non_null(found);
	free(answer.body);
	answer = (struct web_answer){0};
	assert_int_equal(found->answer(&web, &query, &answer), 0);
	assert_int_equal(answer.status, status);
	assert_non_null(answer.type);
	whole = realloc(answer.body, answer.size + 1);
	assert_non_null(whole);
	whole[answer.size] = '\0';
	answer.body = whole;
	return whole;
}

static void set(const char *name, const char *value)
{
	struct error error;

	if (web_query_set(&query, name, value, &error) < 0)
		fail_msg("%s", error.text);
}

/* Ten seconds that end so long before now. */
static void record(int64_t ago_s)
{
	struct profile *slice = slice_new();
	struct profile_info *info;

	assert_non_null(slice);
	info = profile_info(slice);
	info->kinds_mask = 1U << PKBPF_PROFILE_CPU;
	info->start_ns = (uint64_t)((10000 - ago_s - 10) * SECOND);
	info->end_ns = (uint64_t)((10000 - ago_s) * SECOND);
	info->start_unix_ns = NOW - (ago_s + 10) * SECOND;
	assert_int_equal(store_add(web.store, slice, NULL), 0);
	profile_free(slice);
	web.last_end_unix_ns = NOW - ago_s * SECOND;
}

static void health_needs_no_token_and_data_does(void **state)
{
	(void)state;
	assert_true(web_path_find("/healthz")->is_open);
	assert_true(web_path_find("/readyz")->is_open);
	assert_false(web_path_find("/metrics")->is_open);
	assert_false(web_path_find("/")->is_open);
	assert_false(web_path_find("/api/v1/profile")->is_open);
	assert_null(web_path_find("/api/v1/profile/"));
	assert_null(web_path_find("/etc/passwd"));
	assert_null(web_path_find(""));
}

static void readiness_is_a_slice_that_is_young(void **state)
{
	(void)state;
	assert_string_equal(ask("/healthz", 200), "alive\n");
	assert_string_equal(ask("/readyz", 503), "no slice yet\n");
	record(44);
	assert_string_equal(ask("/readyz", 200), "ready\n");
	/* Three slices and a quarter of a minute. */
	web.last_end_unix_ns = NOW - 46 * SECOND;
	assert_string_equal(ask("/readyz", 503), "the last slice ended 46 s ago\n");
}

static void windows_are_those_of_the_interval_and_level(void **state)
{
	(void)state;
	record(400);
	record(20);
	record(10);
	assert_string_equal(ask("/api/v1/windows", 200),
			    "{\"level\":\"slice\",\"windows\":[[1699999970.000,1699999980.000],"
			    "[1699999980.000,1699999990.000]],\"gaps\":[]}\n");
	set("from", "0");
	assert_non_null(strstr(ask("/api/v1/windows", 200), "[1699999590.000,1699999600.000]"));
	assert_non_null(strstr(answer.body, "\"cause\":\"down\""));
	set("level", "year");
	assert_non_null(strstr(ask("/api/v1/windows", 400), "unknown level"));
	set("to", "now-2h");
	set("from", "now-1h");
	assert_string_equal(ask("/api/v1/windows", 400), "from is not before to\n");
	assert_string_equal(ask("/api/v1/series", 400), "from is not before to\n");
	assert_string_equal(ask("/api/v1/profile", 400), "from is not before to\n");
	assert_string_equal(ask("/api/v1/report", 400), "from is not before to\n");
	assert_string_equal(ask("/api/v1/diff", 400), "from is not before to\n");
	assert_string_equal(ask("/api/v1/objectives", 400), "from is not before to\n");
}

static void questions_that_have_no_answer_say_why(void **state)
{
	(void)state;
	assert_non_null(strstr(ask("/api/v1/profile", 404), "there is no history"));
	set("format", "tape");
	assert_non_null(strstr(ask("/api/v1/profile", 400), "unknown format"));
	assert_non_null(strstr(ask("/api/v1/series", 400), "unknown format"));
	assert_non_null(strstr(ask("/api/v1/diff", 400), "unknown format"));
	set("format", "");
	set("figure", "cpu.shares");
	assert_non_null(strstr(ask("/api/v1/series", 400), "unknown figure"));
	assert_non_null(strstr(ask("/debug/pprof/heap", 404), "no such profile"));
	assert_true(answer.for_pprof);
}

static void lanes_have_windows_and_know_their_groupings(void **state)
{
	(void)state;
	record(20);
	record(10);
	assert_non_null(strstr(ask("/api/v1/lanes", 200), "{\"by\":\"process\","));
	assert_non_null(strstr(answer.body, "\"windows\":[[1699999970.000,1699999980.000],"));
	assert_int_equal(answer.policy, WEB_POLICY_DATA);
	set("by", "thread");
	assert_non_null(strstr(ask("/api/v1/lanes", 200), "{\"by\":\"thread\","));
	set("by", "region");
	assert_non_null(strstr(ask("/api/v1/lanes", 400), "by=region is not possible"));
	set("by", "comm");
	set("format", "csv");
	assert_non_null(strstr(ask("/api/v1/lanes", 400), "unknown format"));
	set("format", "json");
	set("to", "now-2h");
	set("from", "now-1h");
	assert_string_equal(ask("/api/v1/lanes", 400), "from is not before to\n");
	/* The page's own scripts may run in it. */
	ask("/history_lanes.js", 200);
	assert_int_equal(answer.policy, WEB_POLICY_PAGE);
	ask("/history_live.js", 200);
	assert_false(web_path_find("/api/v1/lanes")->is_open);
}

static void data_of_a_page_are_made_once_for_the_same_windows(void **state)
{
	char *first;

	(void)state;
	assert_non_null(strstr(ask("/api/v1/page", 404), "there is no history"));
	record(30);
	record(20);
	/* Nothing that is packed is a page. */
	first = strdup(ask("/api/v1/page", 200));
	assert_non_null(first);
	assert_null(strchr(first, '<'));
	assert_int_equal(answer.policy, WEB_POLICY_DATA);
	assert_int_equal(answer.from_unix_ns, NOW - 40 * SECOND);
	assert_int_equal(answer.to_unix_ns, NOW - 20 * SECOND);
	assert_int_equal(web.cache.entries[0].size, answer.size);
	assert_string_equal(ask("/api/v1/page", 200), first);
	assert_int_equal(answer.from_unix_ns, NOW - 40 * SECOND);
	assert_null(web.cache.entries[1].body);
	free(first);
	/* Another window, other data. */
	record(10);
	ask("/api/v1/page", 200);
	assert_non_null(web.cache.entries[1].body);
	set("to", "now-2h");
	set("from", "now-1h");
	assert_string_equal(ask("/api/v1/page", 400), "from is not before to\n");
	assert_false(web_path_find("/api/v1/page")->is_open);
}

static void a_profile_of_a_kind_that_was_not_recorded_is_a_conflict(void **state)
{
	(void)state;
	record(10);
	set("kind", "offcpu");
	assert_non_null(strstr(ask("/api/v1/profile", 409), "not recorded"));
	set("kind", "cpu");
	ask("/api/v1/profile", 200);
	assert_int_equal(answer.policy, WEB_POLICY_DATA);
	assert_int_equal(answer.from_unix_ns, NOW - 20 * SECOND);
	assert_int_equal(answer.to_unix_ns, NOW - 10 * SECOND);
	set("pid", "77");
	assert_non_null(strstr(ask("/api/v1/profile", 404), "no process 77"));
}

static void the_base_of_a_comparison_is_said_once(void **state)
{
	(void)state;
	set("base_from", "now-2h");
	assert_string_equal(ask("/api/v1/diff", 400), "base_from and base_to belong together\n");
	set("base_to", "now-1h");
	set("base", "yesterday");
	assert_string_equal(ask("/api/v1/diff", 400), "base and base_from exclude each other\n");
	set("base", "");
	set("base_to", "now-3h");
	assert_string_equal(ask("/api/v1/diff", 400), "base_from is not before base_to\n");
	set("base_to", "now-1h");
	assert_non_null(strstr(ask("/api/v1/diff", 404), "there is no history"));
}

static void a_series_has_its_points(void **state)
{
	(void)state;
	record(30);
	record(20);
	set("figure", "machine.busy");
	assert_non_null(strstr(ask("/api/v1/series", 200), "\"figure\":\"machine.busy\""));
	assert_non_null(strstr(answer.body, "\"windows\":[[1699999960.000,1699999970.000],"
					    "[1699999970.000,1699999980.000]]"));
	assert_string_equal(answer.type, "application/json");
	set("format", "csv");
	assert_int_equal(strncmp(ask("/api/v1/series", 200), "begin_unix,end_unix,", 20), 0);
	set("step", "1ms");
	assert_non_null(strstr(ask("/api/v1/series", 400), "longer step"));
}

static void errors_have_their_status(void **state)
{
	static const struct {
		int err;
		unsigned int status;
	} rows[] = {{-ENODATA, 404}, {-E2BIG, 413}, {-EINVAL, 400}};
	struct error error = {.text = "why"};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(web_say_error(&answer, rows[i].err, &error), 0);
		assert_int_equal(answer.status, rows[i].status);
		assert_string_equal(answer.body, "why\n");
		free(answer.body);
		answer.body = NULL;
	}
	assert_int_equal(web_say_error(&answer, -EIO, &error), -EIO);
	assert_null(answer.body);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(health_needs_no_token_and_data_does),
		TEST(readiness_is_a_slice_that_is_young),
		TEST(windows_are_those_of_the_interval_and_level),
		TEST(questions_that_have_no_answer_say_why),
		TEST(data_of_a_page_are_made_once_for_the_same_windows),
		TEST(a_profile_of_a_kind_that_was_not_recorded_is_a_conflict),
		TEST(the_base_of_a_comparison_is_said_once),
		TEST(lanes_have_windows_and_know_their_groupings),
		TEST(a_series_has_its_points),
		TEST(errors_have_their_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
