// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/offcpu/deadlock_search: cycles among threads that wait for each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "source/offcpu/deadlock_search.h"

#define MANY 20000

static char said[1024];
static size_t cycles, in_cycles, behind_all;

/* "1 2 3 (2 behind); " */
static void say(void *context, const struct lock_wait *const *threads, size_t count, size_t behind)
{
	size_t used = strlen(said);

	(void)context;
	cycles++;
	in_cycles += count;
	behind_all += behind;
	if (count > 8 || cycles > 8)
		return;
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(said + used, sizeof(said) - used, "%u ", threads[i]->tid);
	snprintf(said + used, sizeof(said) - used, "(%zu behind); ", behind);
}

static void find(struct lock_wait *waits, size_t count)
{
	said[0] = '\0';
	cycles = in_cycles = behind_all = 0;
	assert_int_equal(deadlocks_find(waits, count, say, NULL), 0);
}

/* Pairs of a thread and the owner of what it waits for, in one namespace. */
static const char *find_pairs(const uint32_t pairs[][2], size_t count)
{
	struct lock_wait waits[16] = {0};

	for (size_t i = 0; i < count; i++)
		waits[i] = (struct lock_wait){
			.tid = pairs[i][0], .number = pairs[i][0], .owner = pairs[i][1]};
	find(waits, count);
	return said;
}

#define FIND(...)                                                                                  \
	find_pairs((const uint32_t[][2]){__VA_ARGS__},                                             \
		   sizeof((const uint32_t[][2]){__VA_ARGS__}) / sizeof(uint32_t[2]))

static void two_that_wait_for_each_other_are_a_cycle(void **state)
{
	assert_string_equal(FIND({11, 12}, {12, 11}), "11 12 (0 behind); ");
	assert_string_equal(FIND({12, 11}, {11, 12}), "11 12 (0 behind); ");
}

static void a_cycle_begins_with_its_smallest_thread_and_keeps_its_order(void **state)
{
	assert_string_equal(FIND({31, 12}, {12, 20}, {20, 31}), "12 20 31 (0 behind); ");
	assert_string_equal(FIND({31, 20}, {20, 12}, {12, 31}), "12 31 20 (0 behind); ");
}

static void a_thread_may_wait_for_itself(void **state)
{
	assert_string_equal(FIND({5, 5}), "5 (0 behind); ");
	assert_string_equal(FIND({5, 5}, {6, 5}), "5 (1 behind); ");
}

static void chains_to_a_thread_that_runs_are_none(void **state)
{
	assert_string_equal(FIND({11, 12}, {12, 13}), "");
	assert_string_equal(FIND({11, 12}, {12, 13}, {14, 12}, {15, 11}), "");
	find(NULL, 0);
	assert_string_equal(said, "");
}

static void those_that_wait_for_a_cycle_are_behind_it(void **state)
{
	assert_string_equal(FIND({1, 2}, {2, 11}, {11, 12}, {12, 11}, {40, 12}, {41, 40}),
			    "11 12 (4 behind); ");
	/* Of two cycles each has its own, and one that runs has neither. */
	assert_string_equal(
		FIND({11, 12}, {12, 11}, {21, 22}, {22, 21}, {30, 22}, {31, 99}, {10, 12}, {9, 10}),
		"11 12 (2 behind); 21 22 (1 behind); ");
}

static void numbers_count_in_their_namespace(void **state)
{
	struct lock_wait waits[] = {
		{.tid = 501, .space = 1, .number = 7, .owner = 8},
		{.tid = 601, .space = 2, .number = 8, .owner = 7},
		{.tid = 502, .space = 1, .number = 8, .owner = 9},
		{.tid = 602, .space = 2, .number = 7, .owner = 8},
	};

	find(waits, ARRAY_SIZE(waits));
	assert_string_equal(said, "601 602 (0 behind); ");
}

/* One long cycle with as many behind it; then each thread its own. */
static void many_threads_take_no_square_of_time(void **state)
{
	static struct lock_wait waits[MANY];

	for (uint32_t i = 0; i < MANY; i++)
		waits[i] = (struct lock_wait){.tid = 1 + i,
					      .number = 1 + i,
					      .owner = i < MANY / 2 ? 1 + (i + 1) % (MANY / 2) : i};
	find(waits, MANY);
	assert_int_equal(cycles, 1);
	assert_int_equal(in_cycles, MANY / 2);
	assert_int_equal(behind_all, MANY / 2);
	for (uint32_t i = 0; i < MANY; i++)
		waits[i] = (struct lock_wait){.tid = 1 + i, .number = 1 + i, .owner = 1 + i};
	said[0] = '\0';
	cycles = 0;
	assert_int_equal(deadlocks_find(waits, 100, say, NULL), 0);
	assert_int_equal(cycles, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_that_wait_for_each_other_are_a_cycle),
		cmocka_unit_test(a_cycle_begins_with_its_smallest_thread_and_keeps_its_order),
		cmocka_unit_test(a_thread_may_wait_for_itself),
		cmocka_unit_test(chains_to_a_thread_that_runs_are_none),
		cmocka_unit_test(those_that_wait_for_a_cycle_are_behind_it),
		cmocka_unit_test(numbers_count_in_their_namespace),
		cmocka_unit_test(many_threads_take_no_square_of_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
