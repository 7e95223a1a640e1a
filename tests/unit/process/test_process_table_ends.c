// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/process_table: when a process has ended, and whose its number is then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "process_table_fixture.h"

static void process_ends_with_its_last_thread_not_with_its_leader(void **state)
{
	struct fixture *fixture = *state;
	struct process *process;

	fake_process(fixture->machine, 100, 1, "pool");
	fake_thread(fixture->machine, 100, 101);
	fake_thread(fixture->machine, 100, 102);
	fake_exit(fixture->machine, 100, 100);
	fake_exit(fixture->machine, 100, 101);
	play(fixture);
	process = process_table_find(fixture->table, 100);
	assert_int_equal(process->thread_count, 1);
	assert_int_equal(process->end_ns, 0);
	fake_exit(fixture->machine, 100, 102);
	play(fixture);
	assert_int_equal(process->thread_count, 0);
	assert_int_equal(process->end_ns, FAKE_START_NS + 6 * FAKE_STEP_NS);
}

static void exec_by_another_thread_than_the_leader_leaves_one_thread(void **state)
{
	struct fixture *fixture = *state;

	fake_process(fixture->machine, 100, 1, "java");
	fake_thread(fixture->machine, 100, 101);
	/* The kernel ends all others; the caller takes over the leader's number without an exit of
	 * its own. */
	fake_exit(fixture->machine, 100, 100);
	fake_exec(fixture->machine, 100, "sleep");
	play(fixture);
	assert_int_equal(process_table_find(fixture->table, 100)->thread_count, 1);
	/* The old number is given to a thread of somebody else, which must not disturb pid 100. */
	fake_process(fixture->machine, 200, 1, "other");
	fake_thread(fixture->machine, 200, 101);
	play(fixture);
	assert_int_equal(process_table_find(fixture->table, 100)->thread_count, 1);
	assert_int_equal(process_table_find(fixture->table, 200)->thread_count, 2);
	fake_exit(fixture->machine, 100, 100);
	play(fixture);
	assert_true(process_table_find(fixture->table, 100)->end_ns != 0);
}

static void reused_pid_is_another_process(void **state)
{
	struct fixture *fixture = *state;
	struct process *first, *second;

	fake_process(fixture->machine, 100, 1, "first");
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0, "/bin/first");
	play(fixture);
	first = process_table_get(fixture->table, 100, "first");
	fake_exit(fixture->machine, 100, 100);
	fake_process(fixture->machine, 50, 1, "parent");
	fake_fork(fixture->machine, 50, 100);
	play(fixture);
	second = process_table_get(fixture->table, 100, "parent");
	assert_true(first->id != second->id);
	assert_string_equal(first->comm, "first");
	assert_string_equal(second->comm, "parent");
	assert_string_equal(path_at(fixture, 100, 0x400000), "nothing");
	assert_ptr_equal(process_table_by_id(fixture->table, first->id), first);
	assert_ptr_equal(process_table_by_id(fixture->table, second->id), second);
}

static void pid_reused_although_its_exit_was_lost_is_another_process(void **state)
{
	struct fixture *fixture = *state;
	struct process *first, *second;

	fake_process(fixture->machine, 100, 1, "first");
	fake_thread(fixture->machine, 100, 101);
	play(fixture);
	first = process_table_get(fixture->table, 100, "first");
	fake_fork(fixture->machine, 1, 100);
	play(fixture);
	second = process_table_get(fixture->table, 100, "second");
	assert_true(first->id != second->id);
	assert_true(first->end_ns != 0);
	assert_int_equal(first->thread_count, 0);
	assert_int_equal(second->thread_count, 1);
	assert_string_equal(second->comm, "second");
}

static void mappings_outlive_the_exit_by_the_grace_time(void **state)
{
	struct fixture *fixture = *state;
	struct process *process;
	uint64_t exit_ns;

	fake_process(fixture->machine, 100, 1, "short");
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0, "/bin/short");
	exit_ns = fake_machine_now_ns(fixture->machine);
	fake_exit(fixture->machine, 100, 100);
	fake_machine_at(fixture->machine, exit_ns + PROCESS_GRACE_NS);
	fake_process(fixture->machine, 5, 1, "clock");
	play(fixture);
	/* fake_process() sends two records, the second 1 ms later: past the grace time. */
	assert_null(process_table_find(fixture->table, 100));

	fake_process(fixture->machine, 200, 1, "short");
	fake_map(fixture->machine, 200, 0x400000, 0x500000, 0, "/bin/short");
	exit_ns = fake_machine_now_ns(fixture->machine);
	fake_exit(fixture->machine, 200, 200);
	fake_machine_at(fixture->machine, exit_ns + PROCESS_GRACE_NS - FAKE_STEP_NS);
	fake_process(fixture->machine, 6, 1, "clock");
	play(fixture);
	assert_string_equal(path_at(fixture, 200, 0x400000), "/bin/short");
	process = process_table_get(fixture->table, 200, "short");
	assert_int_equal(process->end_ns, exit_ns);
	fake_process(fixture->machine, 7, 1, "clock");
	play(fixture);
	assert_null(process_table_find(fixture->table, 200));
	assert_null(process_table_mappings(fixture->table, process));
	assert_string_equal(process_table_by_id(fixture->table, process->id)->comm, "short");
}

static void many_processes_whose_exit_was_lost_do_not_confuse_thread_counts(void **state)
{
	struct fixture *fixture = *state;

	/* Each process ends by its pid being reused while 9 threads are on the books: stale entries
	 * pile up. */
	for (uint32_t round = 0; round < 2000; round++) {
		fake_fork(fixture->machine, 1, 100);
		for (uint32_t i = 0; i < 9; i++)
			fake_thread(fixture->machine, 100, 1000 + round * 9 + i);
		play(fixture);
		assert_int_equal(process_table_find(fixture->table, 100)->thread_count, 10);
	}
	assert_int_equal(process_table_count(fixture->table), 2);
}

/* As the kernel does when it executes a set-user-ID program. */
static void exit_announced_in_an_exec_is_none(void **state)
{
	struct fixture *fixture = *state;
	const struct process *process;

	fake_process(fixture->machine, 100, 1, "shell");
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0, "/bin/shell");
	fake_exec(fixture->machine, 100, "sudo");
	fake_exit(fixture->machine, 100, 100);
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0, "/bin/sudo");
	fake_machine_at(fixture->machine,
			fake_machine_now_ns(fixture->machine) + 2 * PROCESS_GRACE_NS);
	fake_process(fixture->machine, 5, 1, "clock");
	play(fixture);
	process = process_table_find(fixture->table, 100);
	assert_non_null(process);
	assert_string_equal(process->comm, "sudo");
	assert_int_equal(process->end_ns, 0);
	assert_int_equal(process->thread_count, 1);
	assert_true(process_table_thread_lives(fixture->table, process->id, 100));
	assert_string_equal(path_at(fixture, 100, 0x400000), "/bin/sudo");
	/* And then it does end. */
	fake_exit(fixture->machine, 100, 100);
	play(fixture);
	assert_true(process->end_ns > 0);
	assert_int_equal(process->thread_count, 0);
}

#define TABLE_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TABLE_TEST(process_ends_with_its_last_thread_not_with_its_leader),
		TABLE_TEST(exec_by_another_thread_than_the_leader_leaves_one_thread),
		TABLE_TEST(reused_pid_is_another_process),
		TABLE_TEST(pid_reused_although_its_exit_was_lost_is_another_process),
		TABLE_TEST(mappings_outlive_the_exit_by_the_grace_time),
		TABLE_TEST(many_processes_whose_exit_was_lost_do_not_confuse_thread_counts),
		TABLE_TEST(exit_announced_in_an_exec_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
