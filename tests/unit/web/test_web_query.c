// SPDX-License-Identifier: BSD-2-Clause
/* Tests what may be asked for, and how. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "web/web_query.h"

#define SECOND 1000000000LL
#define NOW    (1700000000LL * SECOND)

static int set(struct web_query *query, const char *name, const char *value, struct error *error)
{
	web_query_init(query, NOW);
	return web_query_set(query, name, value, error);
}

static void times_are_dates_seconds_or_distances_from_now(void **state)
{
	static const struct {
		const char *text;
		int64_t unix_ns;
	} rows[] = {
		{"now", NOW},
		{"now-90m", NOW - 5400 * SECOND},
		{"-10s", NOW - 10 * SECOND},
		{"1600000000", 1600000000 * SECOND},
		{"2026-11-27T16:00:00Z", 1795795200 * SECOND},
		{"0", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct web_query query;
		struct error error;

		assert_int_equal(set(&query, "from", rows[i].text, &error), 0);
		assert_int_equal(query.from_unix_ns, rows[i].unix_ns);
	}
}

static void a_time_that_is_not_given_is_no_time(void **state)
{
	struct web_query query;
	struct error error;

	(void)state;
	assert_int_equal(set(&query, "from", "0", &error), 0);
	assert_int_not_equal(query.from_unix_ns, WEB_NO_TIME);
	assert_int_equal(query.to_unix_ns, WEB_NO_TIME);
	assert_int_equal(query.base_from_unix_ns, WEB_NO_TIME);
	assert_int_equal(query.base_to_unix_ns, WEB_NO_TIME);
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const texts[] = {"",		  "yesterday",
					    "now+1m",	  "now-",
					    "-",	  "99999999999999999999",
					    "2026-11-27", "2026-13-27T16:00:00Z",
					    "1e9",	  "now-99999999999h"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct web_query query;
		struct error error;

		assert_int_equal(set(&query, "from", texts[i], &error), -EINVAL);
		assert_non_null(strstr(error.text, "is no time"));
	}
}

static void a_kind_a_grouping_and_numbers_are_checked(void **state)
{
	struct web_query query;
	struct error error;

	assert_int_equal(set(&query, "kind", "blockio", &error), 0);
	assert_int_equal(query.kind, PKBPF_PROFILE_BLOCKIO);
	assert_int_equal(set(&query, "kind", "heap", &error), -EINVAL);
	assert_int_equal(set(&query, "by", "container", &error), 0);
	assert_int_equal(query.by, ROWS_BY_CONTAINER);
	assert_int_equal(set(&query, "by", "planet", &error), -EINVAL);
	assert_int_equal(set(&query, "by", "region", &error), 0);
	assert_int_equal(query.by, ROWS_BY_REGION);
	assert_int_equal(set(&query, "seconds", "600", &error), 0);
	assert_int_equal(set(&query, "seconds", "601", &error), -ERANGE);
	assert_int_equal(set(&query, "seconds", "0", &error), -ERANGE);
	assert_int_equal(set(&query, "pid", "-1", &error), -EINVAL);
}

static void an_unknown_name_is_an_error_that_lists_the_known(void **state)
{
	struct web_query query;
	struct error error;

	assert_int_equal(set(&query, "pids", "1", &error), -EINVAL);
	assert_non_null(strstr(error.text, "'pids'"));
	assert_non_null(strstr(error.text, "pid"));
}

static void a_text_that_is_too_long_is_refused(void **state)
{
	struct web_query query;
	struct error error;
	char text[1000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(set(&query, "comm", text, &error), -EINVAL);
	assert_string_equal(query.comm, "");
	assert_int_equal(set(&query, "comm", "nginx", &error), 0);
	assert_string_equal(query.comm, "nginx");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_dates_seconds_or_distances_from_now),
		cmocka_unit_test(a_time_that_is_not_given_is_no_time),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(a_kind_a_grouping_and_numbers_are_checked),
		cmocka_unit_test(an_unknown_name_is_an_error_that_lists_the_known),
		cmocka_unit_test(a_text_that_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
