// SPDX-License-Identifier: BSD-2-Clause
/* Tests for times of files by the clock of records, while the time of day is set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "process/file/file_time.h"

/* 2026 */
#define DAY_S 1780000000L

/* Seconds of the records' clock, and of the time of day after DAY_S. */
static void note(struct file_clock *clock, uint64_t now_s, int64_t day_s)
{
	file_clock_note(clock, now_s * NS_PER_SECOND,
			(DAY_S + day_s - (int64_t)now_s) * (int64_t)NS_PER_SECOND);
}

/* In seconds; -1: in doubt. */
static int64_t convert(const struct file_clock *clock, int64_t day_s)
{
	uint64_t time_ns = file_clock_convert(
		clock, &(struct timespec){.tv_sec = DAY_S + day_s, .tv_nsec = 5});

	return time_ns ? (int64_t)(time_ns / NS_PER_SECOND) : -1;
}

static void one_difference_holds_while_the_clock_goes_on(void **state)
{
	struct file_clock clock = {0};

	assert_int_equal(convert(&clock, 0), -1);
	note(&clock, 100, 0);
	note(&clock, 200, 100);
	assert_int_equal(clock.count, 1);
	assert_int_equal(convert(&clock, 50), 150);
	assert_int_equal(convert(&clock, 1000), 1100);
	assert_int_equal(convert(&clock, -50), 50);
	/* before the machine started */
	assert_int_equal(convert(&clock, -1000), 0);
	assert_int_equal(file_clock_convert(&clock, &(struct timespec){.tv_sec = INT64_MAX}),
			 INT64_MAX);
	/* by a clock that had not the time */
	assert_int_equal(file_clock_convert(&clock, &(struct timespec){.tv_sec = 1000}), 0);
}

/* The time of day goes on for eight hours, the clock of records does not. */
static void a_time_before_a_sleep_has_the_difference_of_then(void **state)
{
	struct file_clock clock = {0};

	note(&clock, 100, 0);
	note(&clock, 200, 100);
	note(&clock, 201, 8 * 3600);
	note(&clock, 300, 8 * 3600 + 99);
	assert_int_equal(convert(&clock, 50), 150);
	assert_int_equal(convert(&clock, 8 * 3600 + 9), 210);
	/* between */
	assert_int_equal(convert(&clock, 3600), -1);
}

static void a_time_that_was_there_twice_is_in_doubt(void **state)
{
	struct file_clock clock = {0};

	note(&clock, 100, 0);
	note(&clock, 200, 100);
	note(&clock, 201, 61);
	note(&clock, 300, 160);
	assert_int_equal(convert(&clock, 80), -1);
	assert_int_equal(convert(&clock, 30), 130);
	assert_int_equal(convert(&clock, 150), 290);
}

static void the_oldest_spans_are_forgotten(void **state)
{
	struct file_clock clock = {0};

	for (uint64_t i = 0; i < 20; i++)
		note(&clock, 100 * i + 1, (int64_t)(3600 * i));
	assert_int_equal(clock.count, FILE_CLOCK_MAX_SPANS);
	assert_int_equal(convert(&clock, 19 * 3600), 1901);
	assert_int_equal(convert(&clock, 12 * 3600), 1201);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_difference_holds_while_the_clock_goes_on),
		cmocka_unit_test(a_time_before_a_sleep_has_the_difference_of_then),
		cmocka_unit_test(a_time_that_was_there_twice_is_in_doubt),
		cmocka_unit_test(the_oldest_spans_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
