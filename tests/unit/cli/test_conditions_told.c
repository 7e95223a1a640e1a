// SPDX-License-Identifier: BSD-2-Clause
/* Tests what --fail-if tells, and the status it ends with. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "base/array.h"
#include "cli/cli_options.h"
#include "cli/conditions.h"
#include "cli/exit_status.h"
#include "finding/results.h"

struct fixture {
	struct fake_profile fake;
	struct results results;
	struct cli_options options;
	struct console console;
	char *text;
	size_t size;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	account_scenario_init(&fixture->fake);
	results_init(&fixture->results, fixture->fake.profile, ROWS_BY_PROCESS);
	cli_options_init(&fixture->options);
	fixture->console.out = open_memstream(&fixture->text, &fixture->size);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	fclose(fixture->console.out);
	free(fixture->text);
	cli_options_done(&fixture->options);
	results_done(&fixture->results);
	fake_profile_done(&fixture->fake);
	free(fixture);
	return 0;
}

/* The status with this condition alone, or with the ones before. */
static int status_with(struct fixture *fixture, const char *condition)
{
	const char **slot = array_add(&fixture->options.conditions);
	int status;

	assert_non_null(slot);
	*slot = condition;
	fflush(fixture->console.out);
	rewind(fixture->console.out);
	status = conditions_check(&fixture->options, &fixture->results, &fixture->console);
	fputc('\0', fixture->console.out);
	fflush(fixture->console.out);
	return status;
}

static void without_conditions_nothing_is_checked(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(conditions_check(&fixture->options, &fixture->results, &fixture->console),
			 EXIT_STATUS_DONE);
}

static void a_breach_is_told_with_its_figure_and_its_condition(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(status_with(fixture, "nginx:cpu.share>10%"), EXIT_STATUS_CONDITION);
	assert_non_null(strstr(fixture->text, "pkbpf: "));
	assert_non_null(strstr(fixture->text, "nginx"));
	assert_non_null(strstr(fixture->text, "70"));
	assert_non_null(strstr(fixture->text, "(--fail-if nginx:cpu.share>10%)"));
}

static void what_holds_not_is_not_told(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(status_with(fixture, "nginx:cpu.share>1000%"), EXIT_STATUS_DONE);
	assert_string_equal(fixture->text, "");
}

static void a_name_that_nobody_has_fails_unless_it_may_be_absent(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(status_with(fixture, "ngnix:cpu.share>10%"), EXIT_STATUS_FAILED);
	assert_non_null(strstr(fixture->text, "did you mean nginx?"));
	fixture->options.conditions.count = 0;
	assert_int_equal(status_with(fixture, "zzzzzzzz:cpu.share>10%"), EXIT_STATUS_FAILED);
	assert_non_null(strstr(fixture->text, "a ? before it allows absence"));
	fixture->options.conditions.count = 0;
	assert_int_equal(status_with(fixture, "?ngnix:cpu.share>10%"), EXIT_STATUS_DONE);
	assert_string_equal(fixture->text, "");
}

static void a_breach_is_worse_than_a_name_that_nobody_has(void **state)
{
	struct fixture *fixture = *state;

	status_with(fixture, "nginx:cpu.share>10%");
	assert_int_equal(status_with(fixture, "zzzzzzzz:cpu.share>10%"), EXIT_STATUS_CONDITION);
	fixture->options.conditions.count = 0;
	status_with(fixture, "zzzzzzzz:cpu.share>10%");
	assert_int_equal(status_with(fixture, "nginx:cpu.share>10%"), EXIT_STATUS_CONDITION);
}

static void all_breaches_are_told(void **state)
{
	struct fixture *fixture = *state;

	status_with(fixture, "nginx:cpu.share>10%");
	status_with(fixture, "python3:cpu.share>1%");
	assert_non_null(strstr(fixture->text, "nginx"));
	assert_non_null(strstr(fixture->text, "python3"));
}

static void a_region_that_was_not_recorded_fails_unless_it_may_be_absent(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(status_with(fixture, "region[load].p99>1ms"), EXIT_STATUS_FAILED);
	assert_non_null(
		strstr(fixture->text, "no region of this name was recorded, nor any other"));
	fixture->options.conditions.count = 0;
	assert_int_equal(status_with(fixture, "?region[load].p99>1ms"), EXIT_STATUS_DONE);
}

static void figures_of_kinds_that_are_not_recorded_are_refused_before(void **state)
{
	struct fixture *fixture = *state;
	const char **slot = array_add(&fixture->options.conditions);
	struct error error;

	*slot = "cpu.share>90%";
	assert_int_equal(
		conditions_check_events(&fixture->options, 1U << PKBPF_PROFILE_CPU, &error), 0);
	*slot = "blockio.p99>1ms";
	assert_int_equal(
		conditions_check_events(&fixture->options, 1U << PKBPF_PROFILE_CPU, &error),
		-EINVAL);
	assert_non_null(strstr(error.text, "cannot check --fail-if blockio.p99>1ms"));
	assert_int_equal(
		conditions_check_events(&fixture->options, 1U << PKBPF_PROFILE_BLOCKIO, &error), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(without_conditions_nothing_is_checked),
		TEST(a_breach_is_told_with_its_figure_and_its_condition),
		TEST(what_holds_not_is_not_told),
		TEST(a_name_that_nobody_has_fails_unless_it_may_be_absent),
		TEST(a_breach_is_worse_than_a_name_that_nobody_has),
		TEST(all_breaches_are_told),
		TEST(a_region_that_was_not_recorded_fails_unless_it_may_be_absent),
		TEST(figures_of_kinds_that_are_not_recorded_are_refused_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
