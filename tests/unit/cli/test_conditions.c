// SPDX-License-Identifier: BSD-2-Clause
/* Tests for cli/conditions: the status of a run with --fail-if. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "cli/conditions.h"
#include "cli/console.h"
#include "cli/exit_status.h"

static struct fake_profile machine;
static char *said;
static size_t said_size;

/* "app" has used 3 s of CPU time, and nothing is known of memory. */
static int setup(void **state)
{
	(void)state;
	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, 3000000000ULL, 17000000000ULL);
	account_process(&machine, &(struct account_process){
					  .pid = 812, .comm = "app", .run_ns = 3000000000ULL});
	account_end(&machine);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_profile_done(&machine);
	free(said);
	said = NULL;
	return 0;
}

/* One or two conditions. */
static int status_of(const char *first, const char *second)
{
	const char *conditions[] = {first, second};
	struct cli_options options = {.conditions = {.items = conditions, .count = second ? 2 : 1}};
	struct console console = {.quiet = true};
	struct results results;
	int status;

	free(said);
	console.out = open_memstream(&said, &said_size);
	results_init(&results, machine.profile, ROWS_BY_PROCESS);
	status = conditions_check(&options, &results, &console);
	results_done(&results);
	fclose(console.out);
	return status;
}

static void a_condition_that_holds_is_told(void **state)
{
	(void)state;
	assert_int_equal(status_of("cpu.total>1s", NULL), EXIT_STATUS_CONDITION);
	assert_non_null(strstr(said, "(--fail-if cpu.total>1s)"));
	assert_int_equal(status_of("cpu.total>10s", NULL), EXIT_STATUS_DONE);
	assert_string_equal(said, "");
}

/* A gate that never closes would be worse than none. */
static void what_was_not_measured_lets_nothing_pass(void **state)
{
	(void)state;
	assert_int_equal(status_of("offcpu.p99>1s", NULL), EXIT_STATUS_FAILED);
	assert_non_null(strstr(said, "--fail-if offcpu.p99>1s: not measured"));
	assert_int_equal(status_of("cpu.total>10s", "offcpu.p99>1s"), EXIT_STATUS_FAILED);
	assert_int_equal(status_of("offcpu.p99>1s", "cpu.total>10s"), EXIT_STATUS_FAILED);
}

static void a_condition_that_holds_comes_before_one_that_is_unknown(void **state)
{
	(void)state;
	assert_int_equal(status_of("offcpu.p99>1s", "cpu.total>1s"), EXIT_STATUS_CONDITION);
	assert_int_equal(status_of("cpu.total>1s", "offcpu.p99>1s"), EXIT_STATUS_CONDITION);
	assert_int_equal(status_of("cpu.total>1s", "nobody:cpu.total>1s"), EXIT_STATUS_CONDITION);
}

static void a_name_that_matches_nothing_fails_unless_it_may_be_absent(void **state)
{
	(void)state;
	assert_int_equal(status_of("apx:cpu.total>1s", NULL), EXIT_STATUS_FAILED);
	assert_non_null(strstr(said, "did you mean app?"));
	assert_int_equal(status_of("?apx:cpu.total>1s", NULL), EXIT_STATUS_DONE);
	assert_int_equal(status_of("app:cpu.total>1s", NULL), EXIT_STATUS_CONDITION);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_condition_that_holds_is_told),
		TEST(what_was_not_measured_lets_nothing_pass),
		TEST(a_condition_that_holds_comes_before_one_that_is_unknown),
		TEST(a_name_that_matches_nothing_fails_unless_it_may_be_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
