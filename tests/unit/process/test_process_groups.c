// SPDX-License-Identifier: BSD-2-Clause
/* Tests that ended incarnations can be told together, and that their ids are used again only where
 * nobody needs them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "process_table_fixture.h"

/* Of a process that has run, was sampled, and ended longer ago than the grace time. */
static uint32_t ended_process(struct fixture *fixture, uint32_t pid, const char *comm)
{
	uint32_t id;

	fake_fork(fixture->machine, 1, pid);
	fake_exec(fixture->machine, pid, comm);
	play(fixture);
	id = process_table_get(fixture->table, pid, comm)->id;
	fake_exit(fixture->machine, pid, pid);
	fake_machine_at(fixture->machine,
			fake_machine_now_ns(fixture->machine) + 2 * PROCESS_GRACE_NS);
	fake_comm(fixture->machine, 1, 1, "init");
	play(fixture);
	return id;
}

static void only_what_ended_and_was_sampled_is_kept(void **state)
{
	struct fixture *fixture = *state;
	uint32_t ended = ended_process(fixture, 100, "true"), living;

	fake_fork(fixture->machine, 1, 101);
	play(fixture);
	living = process_table_get(fixture->table, 101, "")->id;
	assert_true(process_table_is_kept(fixture->table, ended));
	assert_false(process_table_is_kept(fixture->table, living));
	assert_false(process_table_is_kept(fixture->table, 1000));
	assert_int_equal(process_table_kept_count(fixture->table), 1);
	/* Within the grace time its mappings are still of use. */
	fake_exit(fixture->machine, 101, 101);
	play(fixture);
	assert_false(process_table_is_kept(fixture->table, living));
}

static void a_group_spans_the_lives_of_its_members(void **state)
{
	struct fixture *fixture = *state;
	uint32_t first = ended_process(fixture, 100, "true"),
		 second = ended_process(fixture, 101, "true");
	uint64_t start_ns = process_table_by_id(fixture->table, first)->start_ns;
	uint64_t end_ns = process_table_by_id(fixture->table, second)->end_ns;
	struct process *group = process_table_add_group(fixture->table, "true", 42);

	assert_true(process_table_is_group(fixture->table, group->id));
	assert_false(process_table_is_group(fixture->table, first));
	process_table_merge(fixture->table, second, group->id, false);
	process_table_merge(fixture->table, first, group->id, false);
	assert_int_equal(group->members, 2);
	assert_int_equal(group->pid, 0);
	assert_int_equal(group->cgroup_id, 42);
	assert_string_equal(group->comm, "true");
	assert_int_equal(group->start_ns, start_ns);
	assert_int_equal(group->end_ns, end_ns);
	assert_true(group->started_inside);
	assert_int_equal(process_table_kept_count(fixture->table), 0);
}

static void ids_are_used_again_unless_somebody_needs_the_name(void **state)
{
	struct fixture *fixture = *state;
	uint32_t named = ended_process(fixture, 100, "node"),
		 other = ended_process(fixture, 101, "true");
	struct process *group = process_table_add_group(fixture->table, "true", 0);

	process_table_merge(fixture->table, named, group->id, true);
	process_table_merge(fixture->table, other, group->id, false);
	assert_int_equal(process_table_by_id(fixture->table, named)->pid, 100);
	assert_false(process_table_is_kept(fixture->table, named));
	assert_null(process_table_by_id(fixture->table, other));
	fake_fork(fixture->machine, 1, 102);
	play(fixture);
	assert_int_equal(process_table_find(fixture->table, 102)->id, other);
	assert_int_equal(process_table_by_id(fixture->table, other)->members, 0);
	assert_int_equal(process_table_by_id(fixture->table, named)->pid, 100);
}

static void thousands_of_merged_processes_leave_nothing_behind(void **state)
{
	struct fixture *fixture = *state;
	struct process *group = process_table_add_group(fixture->table, "true", 0);
	size_t count = 0;

	for (uint32_t i = 0; i < 5000; i++) {
		process_table_merge(fixture->table, ended_process(fixture, 100 + i, "true"),
				    group->id, false);
		if (i == 10)
			count = process_table_count(fixture->table);
	}
	assert_int_equal(group->members, 5000);
	assert_int_equal(process_table_count(fixture->table), count);
}

static void threads_that_end_before_their_process_are_counted(void **state)
{
	struct fixture *fixture = *state;
	uint32_t id;

	fake_fork(fixture->machine, 1, 100);
	fake_thread(fixture->machine, 100, 101);
	fake_thread(fixture->machine, 100, 102);
	play(fixture);
	id = process_table_get(fixture->table, 100, "")->id;
	assert_true(process_table_thread_lives(fixture->table, id, 100));
	assert_true(process_table_thread_lives(fixture->table, id, 101));
	assert_false(process_table_thread_lives(fixture->table, id, 1));
	assert_false(process_table_thread_lives(fixture->table, id, 103));
	fake_exit(fixture->machine, 100, 101);
	play(fixture);
	assert_false(process_table_thread_lives(fixture->table, id, 101));
	assert_int_equal(process_table_ended_threads(fixture->table), 1);
	fake_exit(fixture->machine, 100, 100);
	fake_exit(fixture->machine, 100, 102);
	play(fixture);
	assert_false(process_table_thread_lives(fixture->table, id, 102));
	/* The last one is the process. */
	assert_int_equal(process_table_ended_threads(fixture->table), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_what_ended_and_was_sampled_is_kept),
		TEST(a_group_spans_the_lives_of_its_members),
		TEST(ids_are_used_again_unless_somebody_needs_the_name),
		TEST(threads_that_end_before_their_process_are_counted),
		TEST(thousands_of_merged_processes_leave_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
