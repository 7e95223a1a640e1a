// SPDX-License-Identifier: BSD-2-Clause
/* Tests for profile/account/deadlock_list: the order of threads, and what is known of one later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "profile/account/account.h"
#include "profile/account/deadlock_list.h"

static struct deadlock_thread thread_of(uint32_t cycle, uint32_t index)
{
	return (struct deadlock_thread){.address = 0x1000 + index,
					.wait_ns = 100,
					.pid = 5,
					.tid = cycle + index,
					.cycle = cycle,
					.index = index,
					.count = 3,
					.class = PKBPF_LOCK_MUTEX,
					.stack = DEADLOCK_NO_STACK};
}

static void cycles_stand_together_in_their_order(void **state)
{
	static const uint32_t order[][2] = {{20, 2}, {10, 1}, {20, 0}, {10, 0}, {10, 2}, {20, 1}};
	struct deadlock_list *list = account_new(ACCOUNT_deadlocks);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		struct deadlock_thread thread = thread_of(order[i][0], order[i][1]);

		assert_int_equal(deadlock_list_add(list, &thread), 0);
	}
	assert_int_equal(list->items.count, 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(list->items.items[i].cycle, i < 3 ? 10 : 20);
		assert_int_equal(list->items.items[i].index, i % 3);
	}
	account_free(ACCOUNT_deadlocks, list);
}

static void a_thread_is_there_once_with_its_longest_wait(void **state)
{
	struct deadlock_list *list = account_new(ACCOUNT_deadlocks);
	struct deadlock_thread thread = thread_of(10, 0);

	(void)state;
	assert_int_equal(deadlock_list_add(list, &thread), 0);
	thread.wait_ns = 300;
	thread.behind = 4;
	thread.stack = 7;
	assert_int_equal(deadlock_list_add(list, &thread), 0);
	thread.wait_ns = 200;
	thread.behind = 3;
	thread.stack = DEADLOCK_NO_STACK;
	assert_int_equal(deadlock_list_add(list, &thread), 0);
	assert_int_equal(list->items.count, 1);
	assert_int_equal(list->items.items[0].wait_ns, 300);
	assert_int_equal(list->items.items[0].behind, 4);
	assert_int_equal(list->items.items[0].stack, 7);
	/* Another lock is another deadlock of it. */
	thread.address++;
	assert_int_equal(deadlock_list_add(list, &thread), 0);
	assert_int_equal(list->items.count, 2);
	account_free(ACCOUNT_deadlocks, list);
}

static void there_are_not_too_many(void **state)
{
	struct deadlock_list *list = account_new(ACCOUNT_deadlocks);

	(void)state;
	for (uint32_t i = 0; i < DEADLOCK_THREADS_MAX; i++) {
		struct deadlock_thread thread = thread_of(DEADLOCK_THREADS_MAX - i, 0);

		assert_int_equal(deadlock_list_add(list, &thread), 0);
	}
	assert_int_equal(
		deadlock_list_add(list, &(struct deadlock_thread){.tid = 9, .cycle = 9999}),
		-ENOSPC);
	assert_int_equal(list->items.count, DEADLOCK_THREADS_MAX);
	account_free(ACCOUNT_deadlocks, list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycles_stand_together_in_their_order),
		cmocka_unit_test(a_thread_is_there_once_with_its_longest_wait),
		cmocka_unit_test(there_are_not_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
