// SPDX-License-Identifier: BSD-2-Clause
/* Tests that relations that are the same add up, and that there are not too many. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/account/account.h"
#include "profile/account/lock_list.h"
#include "profile/account/relation_list.h"

static struct relation relation_of(uint32_t pid, uint32_t stack)
{
	return (struct relation){.kind = PKBPF_RELATION_WAKER,
				 .pid = pid,
				 .other_pid = 7,
				 .stack = stack,
				 .other_stack = RELATION_NO_STACK,
				 .count = 1,
				 .value = 10};
}

static void what_is_the_same_adds_up(void **state)
{
	struct relation_list *list = account_new(ACCOUNT_relations);
	struct relation a = relation_of(1, 0), b = relation_of(1, 1);

	assert_int_equal(relation_list_add(list, &a), 0);
	assert_int_equal(relation_list_add(list, &a), 0);
	assert_int_equal(relation_list_add(list, &b), 0);
	assert_int_equal(relation_list_count(list), 2);
	assert_int_equal(relation_list_at(list, 0)->count, 2);
	assert_int_equal(relation_list_at(list, 0)->value, 20);
	account_free(ACCOUNT_relations, list);
}

/* Parts of locks are kept in the same way. */
static void small_numbers_do_not_hide_each_other(void **state)
{
	struct relation_list *list = account_new(ACCOUNT_relations);
	struct lock_list *locks = account_new(ACCOUNT_locks);

	for (uint32_t i = 0; i < 2 * 32 * 32; i++) {
		struct relation relation = relation_of(i / 32 % 32, i % 32);
		struct lock_part part = {.lock = i / 32 % 32, .state = i % 32, .count = 1, .ns = 1};

		relation.kind = i % 2 ? PKBPF_RELATION_WAKER : PKBPF_RELATION_WAKER + 1;
		assert_int_equal(relation_list_add(list, &relation), 0);
		assert_int_equal(lock_list_add_part(locks, &part), 0);
	}
	assert_int_equal(relation_list_count(list), 32 * 32);
	assert_int_equal(locks->parts.count, 32 * 32);
	account_free(ACCOUNT_relations, list);
	account_free(ACCOUNT_locks, locks);
}

static void stacks_that_are_joined_get_new_numbers(void **state)
{
	struct relation_list *list = account_new(ACCOUNT_relations);
	const uint32_t numbers[] = {5, 3};
	struct relation a = relation_of(1, 1);

	assert_int_equal(relation_list_add(list, &a), 0);
	account_renumber(ACCOUNT_relations, list, numbers, 2);
	assert_int_equal(relation_list_at(list, 0)->stack, 3);
	assert_int_equal(relation_list_at(list, 0)->other_stack, RELATION_NO_STACK);
	account_free(ACCOUNT_relations, list);
}

static void relations_that_are_one_after_a_merge_of_stacks_add_up(void **state)
{
	struct relation_list *list = account_new(ACCOUNT_relations);
	const uint32_t numbers[] = {7, 7};
	struct relation a = relation_of(1, 0), b = relation_of(1, 1), again = relation_of(1, 7);

	assert_int_equal(relation_list_add(list, &a), 0);
	assert_int_equal(relation_list_add(list, &b), 0);
	account_renumber(ACCOUNT_relations, list, numbers, 2);
	assert_int_equal(relation_list_count(list), 1);
	assert_int_equal(relation_list_add(list, &again), 0);
	assert_int_equal(relation_list_count(list), 1);
	assert_int_equal(relation_list_at(list, 0)->count, 3);
	assert_int_equal(relation_list_at(list, 0)->value, 30);
	account_free(ACCOUNT_relations, list);
}

static void there_is_an_end_to_them(void **state)
{
	struct relation_list *list = account_new(ACCOUNT_relations);

	for (uint32_t i = 0; i < RELATION_MAX; i++) {
		struct relation relation = relation_of(i, 0);

		assert_int_equal(relation_list_add(list, &relation), 0);
	}
	struct relation more = relation_of(RELATION_MAX, 0);

	assert_int_equal(relation_list_add(list, &more), -ENOSPC);
	assert_int_equal(relation_list_count(list), RELATION_MAX);
	account_free(ACCOUNT_relations, list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_the_same_adds_up),
		cmocka_unit_test(small_numbers_do_not_hide_each_other),
		cmocka_unit_test(stacks_that_are_joined_get_new_numbers),
		cmocka_unit_test(relations_that_are_one_after_a_merge_of_stacks_add_up),
		cmocka_unit_test(there_is_an_end_to_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
