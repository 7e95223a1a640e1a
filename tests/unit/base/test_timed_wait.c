// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/timed_wait: waits end by CLOCK_MONOTONIC, which is far from the wall clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/timed_wait.h"

#define WAIT_NS (20 * NS_PER_MS)

static void a_wait_ends_when_its_time_has_come(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint64_t until_ns = clock_now_ns() + WAIT_NS;
	pthread_cond_t condition;

	(void)state;
	timed_wait_init(&condition);
	pthread_mutex_lock(&lock);
	while (timed_wait(&condition, &lock, until_ns))
		;
	assert_true(clock_now_ns() >= until_ns);
	/* Long ago. */
	assert_false(timed_wait(&condition, &lock, 1));
	pthread_mutex_unlock(&lock);
	pthread_cond_destroy(&condition);
	pthread_mutex_destroy(&lock);
}

static void a_lock_is_waited_for_as_long(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint64_t until_ns = clock_now_ns() + WAIT_NS;

	(void)state;
	assert_true(timed_lock(&lock, 1));
	assert_false(timed_lock(&lock, until_ns));
	assert_true(clock_now_ns() >= until_ns);
	pthread_mutex_unlock(&lock);
	pthread_mutex_destroy(&lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_ends_when_its_time_has_come),
		cmocka_unit_test(a_lock_is_waited_for_as_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
