// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <pthread.h>

#include "preload/live_table.c"

#define THREADS 4
#define ROUNDS	20000

static const void *address_of(uintptr_t number)
{
	return (const void *)(number * 16 + 0x10000);
}

static void finds_what_was_added_once(void **state)
{
	assert_false(live_may_have(address_of(1)));
	assert_false(live_remove(address_of(1)));
	assert_true(live_add(address_of(1)));
	assert_true(live_may_have(address_of(1)));
	assert_false(live_remove(address_of(2)));
	assert_true(live_remove(address_of(1)));
	assert_false(live_remove(address_of(1)));
	assert_false(live_may_have(address_of(1)));
	assert_int_equal(live_count(), 0);
}

/* free(NULL) comes here when its byte of the filter is set. */
static void never_has_null(void **state)
{
	assert_false(live_remove(NULL));
	assert_int_equal(live_count(), 0);
}

static void a_full_bucket_refuses(void **state)
{
	uintptr_t last = 1;
	uint32_t added = 0;

	/* As many as there are slots: by then some bucket is full. */
	while (added < LIVE_BUCKETS * LIVE_SLOTS && live_add(address_of(last))) {
		added++;
		last++;
	}
	assert_true(added > LIVE_MANY);
	assert_int_equal(live_count(), added);
	assert_false(live_remove(address_of(last)));
	for (uintptr_t i = 1; i < last; i++)
		assert_true(live_remove(address_of(i)));
	assert_int_equal(live_count(), 0);
}

static void *work(void *argument)
{
	uintptr_t base = (uintptr_t)argument * 1000, missing = 0;

	for (uintptr_t round = 0; round < ROUNDS; round++) {
		uintptr_t number = base + round % 500;

		missing += !live_add(address_of(number));
		missing += !live_may_have(address_of(number));
		missing += !live_remove(address_of(number));
	}
	return (void *)missing;
}

static void threads_do_not_disturb_each_other(void **state)
{
	pthread_t threads[THREADS];
	void *missing;

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
	for (size_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &missing), 0);
		assert_null(missing);
	}
	assert_int_equal(live_count(), 0);
	for (size_t i = 0; i < LIVE_FILTER; i++)
		assert_true(live_filter[i] == 0 || live_filter[i] == LIVE_STICKY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_added_once),
		cmocka_unit_test(never_has_null),
		cmocka_unit_test(threads_do_not_disturb_each_other),
		cmocka_unit_test(a_full_bucket_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
