// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/regions/past_targets: which ended processes were targets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "process_table_fixture.h"
#include "source/regions/past_targets.h"

/* A shell, which starts a program that starts another one; and a process beside them. */
static void run_family(struct fixture *fixture)
{
	struct fake_machine *machine = fixture->machine;

	fake_process(machine, 10, 1, "sh");
	fake_process(machine, 20, 1, "other");
	fake_fork(machine, 10, 11);
	fake_exec(machine, 11, "child");
	fake_fork(machine, 11, 12);
	fake_fork(machine, 20, 21);
	fake_exit(machine, 12, 12);
	fake_exit(machine, 11, 11);
	fake_exit(machine, 21, 21);
	play(fixture);
}

static struct u32_list only(uint32_t pid)
{
	struct u32_list targets = {.items = malloc(sizeof(pid)), .count = 1, .capacity = 1};

	assert_non_null(targets.items);
	targets.items[0] = pid;
	return targets;
}

static void ended_descendants_were_targets(void **state)
{
	struct fixture *fixture = *state;
	struct u32_list targets = only(10);

	run_family(fixture);
	assert_int_equal(past_targets_add(fixture->table, PKBPF_FOLLOW_DESCENDANTS, 0, &targets),
			 0);
	assert_int_equal(targets.count, 3);
	assert_true(past_targets_has(&targets, 10));
	assert_true(past_targets_has(&targets, 11));
	assert_true(past_targets_has(&targets, 12));
	assert_false(past_targets_has(&targets, 21));
	free(targets.items);
}

static void workers_run_the_same_program(void **state)
{
	struct fixture *fixture = *state;
	struct u32_list targets = only(10);

	run_family(fixture);
	assert_int_equal(past_targets_add(fixture->table, PKBPF_FOLLOW_WORKERS, 0, &targets), 0);
	assert_int_equal(targets.count, 1);
	free(targets.items);

	targets = only(20);
	assert_int_equal(past_targets_add(fixture->table, PKBPF_FOLLOW_WORKERS, 0, &targets), 0);
	assert_int_equal(targets.count, 2);
	assert_true(past_targets_has(&targets, 21));
	free(targets.items);
}

static void children_are_followed_on_request(void **state)
{
	struct fixture *fixture = *state;
	struct u32_list targets = only(20);

	run_family(fixture);
	assert_int_equal(past_targets_add(fixture->table, PKBPF_FOLLOW_NONE, 0, &targets), 0);
	assert_int_equal(targets.count, 1);
	free(targets.items);
}

static void those_that_ended_before_are_known_already(void **state)
{
	struct fixture *fixture = *state;
	struct u32_list targets = only(10);

	run_family(fixture);
	assert_int_equal(
		past_targets_add(fixture->table, PKBPF_FOLLOW_DESCENDANTS, UINT64_MAX, &targets),
		0);
	assert_int_equal(targets.count, 1);
	free(targets.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ended_descendants_were_targets, setup, teardown),
		cmocka_unit_test_setup_teardown(workers_run_the_same_program, setup, teardown),
		cmocka_unit_test_setup_teardown(children_are_followed_on_request, setup, teardown),
		cmocka_unit_test_setup_teardown(those_that_ended_before_are_known_already, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
