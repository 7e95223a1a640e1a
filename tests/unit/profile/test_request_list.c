// SPDX-License-Identifier: BSD-2-Clause
/* Tests for profile/account/request_list: the slowest requests, slowest first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "profile/account/account.h"
#include "profile/account/request_list.h"

static int add(struct request_list *list, uint64_t start_ns, uint64_t wall_ns)
{
	const struct slow_request request = {.start_ns = start_ns, .wall_ns = wall_ns};

	return request_list_add(list, &request);
}

static void keeps_the_slowest_in_order(void **state)
{
	struct request_list *list = account_new(ACCOUNT_contexts);
	const struct slow_request **items;
	size_t count;

	(void)state;
	request_list_limit(list, 3);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(add(list, i, (i * 37) % 100), 0);
	assert_int_equal(request_list_sorted(list, &items, &count), 0);
	assert_int_equal(count, 3);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(items[i]->wall_ns, 99 - i);
	free(items);
	account_free(ACCOUNT_contexts, list);
}

static void equal_ones_stand_by_their_start(void **state)
{
	struct request_list *list = account_new(ACCOUNT_contexts);
	const struct slow_request **items;
	size_t count;

	(void)state;
	request_list_limit(list, 4);
	add(list, 30, 5);
	add(list, 10, 5);
	add(list, 20, 5);
	assert_int_equal(request_list_sorted(list, &items, &count), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(items[i]->start_ns, 10 * (i + 1));
	free(items);
	account_free(ACCOUNT_contexts, list);
}

static void none_is_kept_without_a_limit_and_merging_takes_the_larger(void **state)
{
	struct request_list *list = account_new(ACCOUNT_contexts),
			    *other = account_new(ACCOUNT_contexts);
	const struct slow_request **items;
	size_t count;

	(void)state;
	assert_int_equal(add(list, 1, 5), 0);
	assert_int_equal(request_list_sorted(list, &items, &count), 0);
	assert_int_equal(count, 0);
	free(items);
	request_list_limit(other, 7);
	account_ops_of(ACCOUNT_contexts)->join(list, other);
	assert_int_equal(request_list_max(list), 7);
	account_free(ACCOUNT_contexts, list);
	account_free(ACCOUNT_contexts, other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_the_slowest_in_order),
		cmocka_unit_test(equal_ones_stand_by_their_start),
		cmocka_unit_test(none_is_kept_without_a_limit_and_merging_takes_the_larger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
