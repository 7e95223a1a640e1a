// SPDX-License-Identifier: BSD-2-Clause
/* Tests that accounts are found by tid and closed at the end of the interval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/offcpu/offcpu_tables_private.h"

#define THREADS 16

struct fixture {
	struct offcpu_tables tables;
	struct pkbpf_thread threads[THREADS];
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->tables.threads =
		(struct mapped_table){.items = fixture->threads, .count = THREADS};
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

static struct pkbpf_thread *slot_of(struct fixture *fixture, uint32_t tid, uint32_t probe)
{
	return &fixture->threads[pkbpf_thread_slot(tid, probe, THREADS - 1)];
}

/* The next number whose search begins in the slot in which that for `tid` does. */
static uint32_t same_slot_as(uint32_t tid)
{
	uint32_t other = tid + 1;

	while (pkbpf_thread_slot(other, 0, THREADS - 1) != pkbpf_thread_slot(tid, 0, THREADS - 1))
		other++;
	return other;
}

static void finds_a_thread_behind_others_of_its_slot(void **state)
{
	struct fixture *fixture = *state;
	uint32_t other = same_slot_as(3);

	*slot_of(fixture, 3, 0) = (struct pkbpf_thread){.tid = other, .place = PKBPF_THREAD_ON_CPU};
	*slot_of(fixture, 3, 1) = (struct pkbpf_thread){.tid = PKBPF_THREAD_TOMBSTONE};
	*slot_of(fixture, 3, 2) = (struct pkbpf_thread){.tid = 3, .place = PKBPF_THREAD_OFF_CPU};
	assert_ptr_equal(offcpu_tables_thread(&fixture->tables, 3), slot_of(fixture, 3, 2));
	assert_ptr_equal(offcpu_tables_thread(&fixture->tables, other), slot_of(fixture, 3, 0));
	assert_null(offcpu_tables_thread(&fixture->tables, same_slot_as(other)));
}

static void finds_nothing_behind_a_slot_that_was_never_used(void **state)
{
	struct fixture *fixture = *state;

	*slot_of(fixture, 3, 2) = (struct pkbpf_thread){.tid = 3, .place = PKBPF_THREAD_ON_CPU};
	assert_null(offcpu_tables_thread(&fixture->tables, 3));
}

static void finds_the_living_one_of_a_number_used_twice(void **state)
{
	struct fixture *fixture = *state;

	*slot_of(fixture, 3, 0) =
		(struct pkbpf_thread){.tid = 3, .pid = 100, .place = PKBPF_THREAD_ENDED};
	*slot_of(fixture, 3, 1) =
		(struct pkbpf_thread){.tid = 3, .pid = 200, .place = PKBPF_THREAD_OFF_CPU};
	assert_ptr_equal(offcpu_tables_thread(&fixture->tables, 3), slot_of(fixture, 3, 1));
}

static void searches_wrap_at_the_end_of_the_table(void **state)
{
	struct fixture *fixture = *state;
	uint32_t tid = 1, other;

	while (pkbpf_thread_slot(tid, 0, THREADS - 1) != THREADS - 1)
		tid++;
	other = same_slot_as(tid);
	fixture->threads[THREADS - 1] =
		(struct pkbpf_thread){.tid = tid, .place = PKBPF_THREAD_ON_CPU};
	fixture->threads[0] = (struct pkbpf_thread){.tid = other, .place = PKBPF_THREAD_ON_CPU};
	assert_ptr_equal(offcpu_tables_thread(&fixture->tables, other), &fixture->threads[0]);
}

/* How many of `count` threads with numbers from `first` on find no room in a table, which notes
 * those that do. */
static uint32_t count_without_room(bool *used, uint32_t slots, uint32_t first, uint32_t count)
{
	uint32_t without = 0;

	for (uint32_t tid = first; tid < first + count; tid++) {
		uint32_t probe = 0;

		while (probe < PKBPF_THREAD_PROBES &&
		       used[pkbpf_thread_slot(tid, probe, slots - 1)])
			probe++;
		if (probe == PKBPF_THREAD_PROBES)
			without++;
		else
			used[pkbpf_thread_slot(tid, probe, slots - 1)] = true;
	}
	return without;
}

static void pools_a_multiple_of_the_table_apart_all_find_room(void **state)
{
	(void)state;
	for (uint32_t slots = 1U << 14; slots <= 1U << 20; slots *= 2) {
		bool *used = calloc(slots, sizeof(*used));
		uint32_t first = 1000;

		/* Six pools in an eighth of the slots: a table has no more threads when it is
		 * sized. */
		for (int pool = 0; pool < 6; pool++, first += slots)
			assert_int_equal(count_without_room(used, slots, first, slots / 48), 0);
		free(used);
	}
}

static void a_process_whose_number_falls_into_a_pool_finds_room(void **state)
{
	bool used[1U << 14] = {0};

	(void)state;
	assert_int_equal(count_without_room(used, 1U << 14, 1000, 64), 0);
	assert_int_equal(count_without_room(used, 1U << 14, 1000 + (1U << 14), 64), 0);
}

static void what_is_under_way_counts_up_to_the_end(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_thread *runs = &fixture->threads[1], *waits = &fixture->threads[2];

	*runs = (struct pkbpf_thread){.tid = 1,
				      .place = PKBPF_THREAD_ON_CPU,
				      .first_ns = 100,
				      .since_ns = 700,
				      .time_ns = {[PKBPF_WAIT_SLEEP] = 600},
				      .state = PKBPF_WAIT_SLEEP};
	*waits = (struct pkbpf_thread){.tid = 2,
				       .place = PKBPF_THREAD_OFF_CPU,
				       .first_ns = 100,
				       .since_ns = 400,
				       .time_ns = {[PKBPF_WAIT_NONE] = 300},
				       .state = PKBPF_WAIT_DISK};
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

	*thread = (struct pkbpf_thread){.tid = 1,
					.place = PKBPF_THREAD_ON_CPU,
					.first_ns = 100,
					.since_ns = 700,
					.pending_ns = 600,
					.state = PKBPF_WAIT_UNINTERRUPTIBLE};
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

	*thread = (struct pkbpf_thread){.tid = 1,
					.place = PKBPF_THREAD_OFF_CPU,
					.first_ns = 100,
					.since_ns = 1001,
					.time_ns = {[PKBPF_WAIT_NONE] = 901},
					.state = PKBPF_WAIT_SLEEP};
	offcpu_tables_close(&fixture->tables, 1000);
	assert_int_equal(account_ns(thread), 901);
	assert_int_equal(thread->since_ns, 1001);
}

static void a_state_nobody_knows_is_sleep(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_thread *thread = &fixture->threads[1];

	*thread = (struct pkbpf_thread){
		.tid = 1, .place = PKBPF_THREAD_OFF_CPU, .since_ns = 400, .state = 200};
	offcpu_tables_close(&fixture->tables, 1000);
	assert_int_equal(thread->time_ns[PKBPF_WAIT_SLEEP], 600);
}

static void threads_that_ended_before_keep_their_accounts(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_thread *ended = &fixture->threads[1], *freed = &fixture->threads[2];

	*ended = (struct pkbpf_thread){.tid = 1, .place = PKBPF_THREAD_ENDED, .since_ns = 400};
	*freed = (struct pkbpf_thread){
		.tid = PKBPF_THREAD_TOMBSTONE, .place = PKBPF_THREAD_ON_CPU, .since_ns = 400};
	offcpu_tables_close(&fixture->tables, 1000);
	assert_int_equal(account_ns(ended), 0);
	assert_int_equal(account_ns(freed), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_a_thread_behind_others_of_its_slot, setup,
						teardown),
		cmocka_unit_test_setup_teardown(finds_nothing_behind_a_slot_that_was_never_used,
						setup, teardown),
		cmocka_unit_test_setup_teardown(finds_the_living_one_of_a_number_used_twice, setup,
						teardown),
		cmocka_unit_test_setup_teardown(searches_wrap_at_the_end_of_the_table, setup,
						teardown),
		cmocka_unit_test(a_process_whose_number_falls_into_a_pool_finds_room),
		cmocka_unit_test(pools_a_multiple_of_the_table_apart_all_find_room),
		cmocka_unit_test_setup_teardown(what_is_under_way_counts_up_to_the_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_wait_that_is_not_split_yet_is_not_forgotten,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_switch_stamped_after_the_end_adds_nothing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_state_nobody_knows_is_sleep, setup, teardown),
		cmocka_unit_test_setup_teardown(threads_that_ended_before_keep_their_accounts,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
