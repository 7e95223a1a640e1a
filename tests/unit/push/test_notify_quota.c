// SPDX-License-Identifier: BSD-2-Clause
/* Tests for push/notify_quota: a flood is limited, and the end of each alert that was told is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "push/notify_quota.h"

#define SECOND 1000000000ULL
#define HOUR   (3600 * SECOND)

static struct notify_quotas quotas;
static uint64_t now_ns, suppressed;

static int setup(void **state)
{
	(void)state;
	quotas = (struct notify_quotas){0};
	now_ns = 5 * SECOND;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	notify_quotas_done(&quotas);
	return 0;
}

static bool take(const char *target, unsigned int number, bool fires)
{
	char who[16];
	struct notify_event event = {"busy", target, who, fires};

	snprintf(who, sizeof(who), "turn%u", number);
	return notify_quota_take(&quotas, &event, now_ns, &suppressed);
}

static void the_end_of_what_was_told_is_told(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(take("chat", i, true), i < NOTIFY_HOURLY_MAX);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(take("chat", i, false), i < NOTIFY_HOURLY_MAX);
}

static void ends_take_nothing_of_the_quota(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NOTIFY_HOURLY_MAX; i++) {
		assert_true(take("chat", i, true));
		assert_true(take("chat", i, false));
	}
	assert_false(take("chat", 99, true));
}

static void an_hour_later_there_is_room_again(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NOTIFY_HOURLY_MAX + 5; i++)
		take("chat", i, true);
	now_ns += HOUR - 1;
	assert_false(take("chat", 50, true));
	now_ns += 1;
	assert_true(take("chat", 50, true));
	assert_int_equal(suppressed, 6);
	assert_true(take("chat", 51, true));
	assert_int_equal(suppressed, 0);
	/* Its begin was not told an hour ago, but this one is. */
	assert_true(take("chat", 22, true));
	assert_true(take("chat", 22, false));
	assert_false(take("chat", 23, false));
}

static void each_target_has_its_own(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2 * NOTIFY_HOURLY_MAX; i++)
		take("chat", i, true);
	assert_true(take("pager", 0, true));
	assert_int_equal(suppressed, 0);
}

/* After a reload or a restart it is not known what was told: better once too often. */
static void an_end_without_a_begin_is_told(void **state)
{
	(void)state;
	assert_true(take("chat", 7, false));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_end_of_what_was_told_is_told),	 TEST(ends_take_nothing_of_the_quota),
		TEST(an_hour_later_there_is_room_again), TEST(each_target_has_its_own),
		TEST(an_end_without_a_begin_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
