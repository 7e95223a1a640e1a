// SPDX-License-Identifier: BSD-2-Clause
/* Tests for history/history_time: times as people and our own JSON write them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "history/history_time.h"

#define SECOND 1000000000LL
#define NOW    (1700000000LL * SECOND + 5)

static int64_t parse(const char *text)
{
	struct error error;
	int64_t unix_ns = -1;

	if (history_time_parse(text, NOW, &unix_ns, &error) < 0)
		fail_msg("%s", error.text);
	return unix_ns;
}

static void seconds_may_have_a_fraction(void **state)
{
	(void)state;
	assert_int_equal(parse("1700000000"), 1700000000 * SECOND);
	assert_int_equal(parse("1700000000.250"), 1700000000 * SECOND + SECOND / 4);
	assert_int_equal(parse("1700000000.000000001"), 1700000000 * SECOND + 1);
	/* Beyond nanoseconds nothing is left. */
	assert_int_equal(parse("0.1234567899"), 123456789);
	assert_int_equal(parse("0"), 0);
}

static void a_date_may_have_a_fraction(void **state)
{
	(void)state;
	assert_int_equal(parse("2026-11-27T16:00:00Z"), 1795795200 * SECOND);
	assert_int_equal(parse("2026-11-27T16:00:00.5Z"), 1795795200 * SECOND + SECOND / 2);
	/* Without Z it is the time of this place. */
	setenv("TZ", "UTC-2", 1);
	tzset();
	assert_int_equal(parse("2026-11-27T18:00:00.25"), 1795795200 * SECOND + SECOND / 4);
	unsetenv("TZ");
	tzset();
}

static void distances_are_from_now(void **state)
{
	(void)state;
	assert_int_equal(parse("now"), NOW);
	assert_int_equal(parse("now-90m"), NOW - 5400 * SECOND);
	assert_int_equal(parse("-10s"), NOW - 10 * SECOND);
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const texts[] = {"",
					    ".5",
					    "1.",
					    "1..5",
					    "1.5.5",
					    "1.5s",
					    "1e9",
					    "+1",
					    "-1.x",
					    " 1",
					    "99999999999999999999",
					    "9000000001",
					    "2026-11-27T16:00:00.Z",
					    "2026-11-27T16:00:00.5z",
					    "2026-11-27T16:00:00.5Z ",
					    "now+1m"};
	struct error error;
	int64_t unix_ns = -1;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (history_time_parse(texts[i], NOW, &unix_ns, &error) != -EINVAL)
			fail_msg("'%s' is taken", texts[i]);
		assert_non_null(strstr(error.text, "is no time"));
	}
	assert_int_equal(unix_ns, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds_may_have_a_fraction),
		cmocka_unit_test(a_date_may_have_a_fraction),
		cmocka_unit_test(distances_are_from_now),
		cmocka_unit_test(what_is_no_time_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
