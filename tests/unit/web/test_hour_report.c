// SPDX-License-Identifier: BSD-2-Clause
/* Tests the report of an hour. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "account_scenario.h"
#include "base/file_io.h"
#include "profile/slice/slice.h"
#include "temp_store.h"
#include "temp_tree.h"
#include "web/hour_report.h"

#define SECOND 1000000000LL
#define SLICE  (10 * SECOND)
#define HOUR   (3600 * SECOND)
/* On the hour. */
#define BEGIN (1700002800LL * SECOND)

static struct fake_profile fake;
static struct temp_tree tree;
static struct store *store;

static int setup(void **state)
{
	account_scenario_init(&fake);
	store = temp_store_open(&tree);
	return 0;
}

static int teardown(void **state)
{
	store_close(store);
	fake_profile_done(&fake);
	temp_tree_done(&tree);
	return 0;
}

static void add(int64_t from_unix_ns, int count)
{
	for (int n = 0; n < count; n++) {
		struct profile *slice = slice_new();
		struct profile_info *info;

		assert_non_null(slice);
		assert_int_equal(slice_merge(slice, fake.profile), 0);
		info = profile_info(slice);
		info->start_unix_ns = from_unix_ns + n * SLICE;
		info->start_ns = (uint64_t)(info->start_unix_ns - BEGIN + 100 * HOUR);
		info->end_ns = info->start_ns + SLICE;
		assert_int_equal(store_add(store, slice, NULL), 0);
		profile_free(slice);
	}
}

static int make(int64_t hour_unix_ns, const struct objectives *objectives, struct error *error)
{
	const struct hour_report_settings settings = {
		.wanted = true, .html = true, .json = true, .keep = 2};
	struct hour_report report = {.objectives = objectives,
				     .range = {hour_unix_ns, hour_unix_ns + HOUR},
				     .host = "db<1>",
				     .url = "http://127.0.0.1:7747/"};

	return hour_report_make(store, &report, &settings, error);
}

static char *read_file(const char *name)
{
	char path[4096], *text;
	size_t size;

	snprintf(path, sizeof(path), "%s/report/%s", tree.root, name);
	assert_int_equal(file_read_all(AT_FDCWD, path, 1 << 22, &text, &size), 0);
	return text;
}

static void an_hour_has_its_objectives_and_figures(void **state)
{
	struct objectives objectives = {0};
	struct error error;
	json_t *root, *objective;
	char *text;

	add(BEGIN, 12);
	assert_int_equal(objectives_add(&objectives, "<io>", "blockio.p99 < 1s", &error), 0);
	assert_int_equal(make(BEGIN, &objectives, &error), 0);
	text = read_file("2023-11-14T23:00Z.json");
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	objective = json_array_get(json_object_get(root, "objectives"), 0);
	assert_int_equal(json_integer_value(json_object_get(objective, "kept")), 2);
	assert_true(json_is_null(json_object_get(root, "changes_since_yesterday")));
	assert_true(json_is_object(json_object_get(root, "report")));
	json_decref(root);
	free(text);
	text = read_file("2023-11-14T23:00Z.html");
	assert_non_null(strstr(text, "<h1>db&lt;1&gt;, hour of 2023-11-14T23:00Z</h1>"));
	assert_non_null(strstr(text, "<td>&lt;io&gt;<td>met<td>100.00 %"));
	assert_non_null(strstr(text, "no history of this hour of yesterday"));
	assert_null(strstr(text, "\x1b"));
	free(text);
	objectives_done(&objectives);
}

static void the_oldest_reports_go(void **state)
{
	struct objectives none = {0};
	struct error error;
	char path[4096];

	for (int64_t i = 0; i < 4; i++) {
		add(BEGIN + i * HOUR, 3);
		assert_int_equal(make(BEGIN + i * HOUR, &none, &error), 0);
	}
	snprintf(path, sizeof(path), "%s/report/2023-11-15T00:00Z.html", tree.root);
	assert_int_equal(access(path, F_OK), -1);
	free(read_file("2023-11-15T01:00Z.html"));
	free(read_file("2023-11-15T02:00Z.json"));
}

static void an_hour_without_history_has_no_report(void **state)
{
	struct objectives none = {0};
	struct error error;

	assert_int_equal(make(BEGIN, &none, &error), -ENODATA);
}

static void yesterday_is_what_it_is_compared_with(void **state)
{
	struct objectives none = {0};
	struct error error;
	json_t *root;
	char *text;

	add(BEGIN, 12);
	add(BEGIN + 24 * HOUR, 12);
	assert_int_equal(make(BEGIN + 24 * HOUR, &none, &error), 0);
	text = read_file("2023-11-15T23:00Z.json");
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	/* The same work: nothing is significant. */
	assert_int_equal(json_array_size(json_object_get(root, "changes_since_yesterday")), 0);
	assert_true(json_is_array(json_object_get(root, "changes_since_yesterday")));
	json_decref(root);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(an_hour_has_its_objectives_and_figures),
		TEST(the_oldest_reports_go),
		TEST(an_hour_without_history_has_no_report),
		TEST(yesterday_is_what_it_is_compared_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
