// SPDX-License-Identifier: BSD-2-Clause
/* Tests that accounts are found by tid and closed at the end of the interval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/offcpu_tables_private.h"

#define THREADS 16

struct fixture {
	struct offcpu_tables tables;
	struct pkbpf_thread threads[THREADS];
	struct pkbpf_stack_memo memos[4];
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->tables.threads = (struct mapped_table){.items = fixture->threads, .count = THREADS};
	fixture->tables.memos = (struct mapped_table){.items = fixture->memos, .count = 4};
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static uint64_t account_ns(const struct pkbpf_thread *thread)
{
	uint64_t sum_ns = 0;

	for (int i = 0; i < PKBPF_WAIT_STATES; i++)
		sum_ns += thread->time_ns[i];
	return sum_ns;
}

static void finds_a_thread_behind_others_of_its_slot(void **state)
{
	struct fixture *fixture = *state;

	fixture->threads[3] = (struct pkbpf_thread){.tid = 3 + THREADS, .place = PKBPF_THREAD_ON_CPU};
	fixture->threads[4] = (struct pkbpf_thread){.tid = PKBPF_THREAD_TOMBSTONE};
	fixture->threads[5] = (struct pkbpf_thread){.tid = 3, .place = PKBPF_THREAD_OFF_CPU};
	assert_ptr_equal(offcpu_tables_thread(&fixture->tables, 3), &fixture->threads[5]);
	assert_ptr_equal(offcpu_tables_thread(&fixture->tables, 3 + THREADS), &fixture->threads[3]);
	assert_null(offcpu_tables_thread(&fixture->tables, 3 + 2 * THREADS));
}

static void finds_nothing_behind_a_slot_that_was_never_used(void **state)
{
	struct fixture *fixture = *state;

	fixture->threads[5] = (struct pkbpf_thread){.tid = 3, .place = PKBPF_THREAD_ON_CPU};
	assert_null(offcpu_tables_thread(&fixture->tables, 3));
}

static void finds_the_living_one_of_a_number_used_twice(void **state)
{
	struct fixture *fixture = *state;

	fixture->threads[3] = (struct pkbpf_thread){.tid = 3, .pid = 100, .place = PKBPF_THREAD_ENDED};
	fixture->threads[4] = (struct pkbpf_thread){.tid = 3, .pid = 200, .place = PKBPF_THREAD_OFF_CPU};
	assert_ptr_equal(offcpu_tables_thread(&fixture->tables, 3), &fixture->threads[4]);
}

static void searches_wrap_at_the_end_of_the_table(void **state)
{
	struct fixture *fixture = *state;

	fixture->threads[THREADS - 1] = (struct pkbpf_thread){.tid = THREADS - 1, .place = PKBPF_THREAD_ON_CPU};
	fixture->threads[0] = (struct pkbpf_thread){.tid = 2 * THREADS - 1, .place = PKBPF_THREAD_ON_CPU};
	assert_ptr_equal(offcpu_tables_thread(&fixture->tables, 2 * THREADS - 1), &fixture->threads[0]);
}

static void what_is_under_way_counts_up_to_the_end(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_thread *runs = &fixture->threads[1], *waits = &fixture->threads[2];

	*runs = (struct pkbpf_thread){.tid = 1, .place = PKBPF_THREAD_ON_CPU, .first_ns = 100, .since_ns = 700,
				      .time_ns = {[PKBPF_WAIT_SLEEP] = 600}, .state = PKBPF_WAIT_SLEEP};
	*waits = (struct pkbpf_thread){.tid = 2, .place = PKBPF_THREAD_OFF_CPU, .first_ns = 100, .since_ns = 400,
				       .time_ns = {[PKBPF_WAIT_NONE] = 300}, .state = PKBPF_WAIT_DISK};
	offcpu_tables_close(&fixture->tables, 1000);
	assert_int_equal(runs->time_ns[PKBPF_WAIT_NONE], 300);
	assert_int_equal(waits->time_ns[PKBPF_WAIT_DISK], 600);
	assert_int_equal(account_ns(runs), 900);
	assert_int_equal(account_ns(waits), 900);
	assert_int_equal(runs->place, PKBPF_THREAD_ENDED);
	assert_int_equal(waits->since_ns, 1000);
}

static void a_wait_that_is_not_split_yet_is_not_forgotten(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_thread *thread = &fixture->threads[1];

	*thread = (struct pkbpf_thread){.tid = 1, .place = PKBPF_THREAD_ON_CPU, .first_ns = 100, .since_ns = 700,
					.pending_ns = 600, .state = PKBPF_WAIT_UNINTERRUPTIBLE};
	offcpu_tables_close(&fixture->tables, 1000);
	assert_int_equal(thread->time_ns[PKBPF_WAIT_UNINTERRUPTIBLE], 600);
	assert_int_equal(thread->count[PKBPF_WAIT_UNINTERRUPTIBLE], 1);
	assert_int_equal(thread->pending_ns, 0);
	assert_int_equal(account_ns(thread), 900);
}

static void a_switch_stamped_after_the_end_adds_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_thread *thread = &fixture->threads[1];

	*thread = (struct pkbpf_thread){.tid = 1, .place = PKBPF_THREAD_OFF_CPU, .first_ns = 100, .since_ns = 1001,
					.time_ns = {[PKBPF_WAIT_NONE] = 901}, .state = PKBPF_WAIT_SLEEP};
	offcpu_tables_close(&fixture->tables, 1000);
	assert_int_equal(account_ns(thread), 901);
	assert_int_equal(thread->since_ns, 1001);
}

static void a_state_nobody_knows_is_sleep(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_thread *thread = &fixture->threads[1];

	*thread = (struct pkbpf_thread){.tid = 1, .place = PKBPF_THREAD_OFF_CPU, .since_ns = 400, .state = 200};
	offcpu_tables_close(&fixture->tables, 1000);
	assert_int_equal(thread->time_ns[PKBPF_WAIT_SLEEP], 600);
}

static void threads_that_ended_before_keep_their_accounts(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_thread *ended = &fixture->threads[1], *freed = &fixture->threads[2];

	*ended = (struct pkbpf_thread){.tid = 1, .place = PKBPF_THREAD_ENDED, .since_ns = 400};
	*freed = (struct pkbpf_thread){.tid = PKBPF_THREAD_TOMBSTONE, .place = PKBPF_THREAD_ON_CPU, .since_ns = 400};
	offcpu_tables_close(&fixture->tables, 1000);
	assert_int_equal(account_ns(ended), 0);
	assert_int_equal(account_ns(freed), 0);
}

static void hits_of_all_memos_are_added_up(void **state)
{
	struct fixture *fixture = *state;

	fixture->memos[0].hits = UINT32_MAX;
	fixture->memos[3].hits = 2;
	assert_int_equal(offcpu_tables_memo_hits(&fixture->tables), (uint64_t)UINT32_MAX + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_a_thread_behind_others_of_its_slot, setup, teardown),
		cmocka_unit_test_setup_teardown(finds_nothing_behind_a_slot_that_was_never_used, setup, teardown),
		cmocka_unit_test_setup_teardown(finds_the_living_one_of_a_number_used_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(searches_wrap_at_the_end_of_the_table, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_under_way_counts_up_to_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(a_wait_that_is_not_split_yet_is_not_forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(a_switch_stamped_after_the_end_adds_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_state_nobody_knows_is_sleep, setup, teardown),
		cmocka_unit_test_setup_teardown(threads_that_ended_before_keep_their_accounts, setup, teardown),
		cmocka_unit_test_setup_teardown(hits_of_all_memos_are_added_up, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
