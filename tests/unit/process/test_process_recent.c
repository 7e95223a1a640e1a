// SPDX-License-Identifier: BSD-2-Clause
/* Tests that what comes late finds the incarnation that ended, also one that nobody had referred
 * to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "process_table_fixture.h"

static void at(struct fixture *fixture, uint64_t time_ns)
{
	fake_machine_at(fixture->machine, time_ns);
	fake_comm(fixture->machine, 1, 1, "init");
	play(fixture);
}

/* Returns when it ended, which is longer ago than the grace time. */
static uint64_t run(struct fixture *fixture, uint32_t pid, const char *comm)
{
	uint64_t end_ns;

	fake_fork(fixture->machine, 1, pid);
	fake_exec(fixture->machine, pid, comm);
	end_ns = fake_machine_now_ns(fixture->machine);
	fake_exit(fixture->machine, pid, pid);
	at(fixture, end_ns + 2 * PROCESS_GRACE_NS);
	assert_null(process_table_find(fixture->table, pid));
	return end_ns;
}

static void finds_a_process_that_nobody_referred_to(void **state)
{
	struct fixture *fixture = *state;
	uint64_t end_ns = run(fixture, 100, "true");
	const struct process *process = process_table_get_late(fixture->table, 100, "late");

	assert_string_equal(process->comm, "true");
	assert_int_equal(process->end_ns, end_ns);
	assert_true(process->start_ns && process->start_ns < end_ns);
	assert_true(process_table_is_kept(fixture->table, process->id));
	assert_int_equal(process_table_kept_count(fixture->table), 1);
	/* From now on it is there for good, and found by its pid. */
	at(fixture, end_ns + 10 * PROCESS_LATE_NS);
	assert_ptr_equal(process_table_by_id(fixture->table, process->id), process);
	assert_ptr_equal(process_table_get_late(fixture->table, 100, ""), process);
	assert_int_equal(process_table_kept_count(fixture->table), 1);
}

static void finds_one_that_a_sample_had_referred_to(void **state)
{
	struct fixture *fixture = *state;
	const struct process *process;

	fake_fork(fixture->machine, 1, 100);
	play(fixture);
	process = process_table_get(fixture->table, 100, "");
	fake_exit(fixture->machine, 100, 100);
	at(fixture, fake_machine_now_ns(fixture->machine) + 10 * PROCESS_LATE_NS);
	assert_ptr_equal(process_table_get_late(fixture->table, 100, ""), process);
}

static void prefers_the_living_one(void **state)
{
	struct fixture *fixture = *state;
	const struct process *process;

	run(fixture, 100, "true");
	fake_fork(fixture->machine, 1, 100);
	fake_exec(fixture->machine, 100, "sleep");
	play(fixture);
	process = process_table_get_late(fixture->table, 100, "");
	assert_string_equal(process->comm, "sleep");
	assert_int_equal(process->end_ns, 0);
}

static void a_pid_used_twice_leads_to_who_had_it_last(void **state)
{
	struct fixture *fixture = *state;
	uint64_t end_ns;

	run(fixture, 100, "first");
	end_ns = run(fixture, 100, "second");
	assert_string_equal(process_table_get_late(fixture->table, 100, "")->comm, "second");
	/* The first being forgotten does not take the second along. */
	at(fixture, end_ns + PROCESS_LATE_NS);
	assert_string_equal(process_table_get_late(fixture->table, 100, "")->comm, "second");
}

static void is_forgotten_when_nothing_came(void **state)
{
	struct fixture *fixture = *state;
	uint64_t end_ns = run(fixture, 100, "true");
	const struct process *process;

	at(fixture, end_ns + PROCESS_LATE_NS + 1);
	process = process_table_get_late(fixture->table, 100, "unknown");
	assert_string_equal(process->comm, "unknown");
	assert_int_equal(process->end_ns, 0);
	assert_int_equal(process_table_kept_count(fixture->table), 0);
}

static void those_that_ended_first_are_forgotten_first(void **state)
{
	struct fixture *fixture = *state;

	for (uint32_t i = 0; i < PROCESS_RECENT_MAX + 1; i++) {
		fake_machine_at(fixture->machine, FAKE_START_NS);
		fake_fork(fixture->machine, 1, 100 + i);
		fake_exit(fixture->machine, 100 + i, 100 + i);
		/* Each time that it plays takes and frees memory, which sanitizers make slow. */
		if (i % 64 == 0)
			play(fixture);
	}
	play(fixture);
	at(fixture, FAKE_START_NS + 2 * PROCESS_GRACE_NS);
	assert_true(process_table_get_late(fixture->table, 101, "")->end_ns);
	assert_true(process_table_get_late(fixture->table, 100 + PROCESS_RECENT_MAX, "")->end_ns);
	assert_false(process_table_get_late(fixture->table, 100, "")->end_ns);
}

static void one_told_in_a_group_is_not_found(void **state)
{
	struct fixture *fixture = *state;
	struct process *group = process_table_add_group(fixture->table, "true", 0);
	uint32_t id;

	run(fixture, 100, "true");
	id = process_table_get_late(fixture->table, 100, "")->id;
	process_table_merge(fixture->table, id, group->id, true);
	assert_int_not_equal(process_table_get_late(fixture->table, 100, "")->id, id);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(finds_a_process_that_nobody_referred_to),
		TEST(finds_one_that_a_sample_had_referred_to),
		TEST(prefers_the_living_one),
		TEST(a_pid_used_twice_leads_to_who_had_it_last),
		TEST(is_forgotten_when_nothing_came),
		TEST(those_that_ended_first_are_forgotten_first),
		TEST(one_told_in_a_group_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
