// SPDX-License-Identifier: BSD-2-Clause
/* Environments that are copied and changed beside the process's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/command_environment.h"

static void a_copy_has_what_was_there_and_what_is_set(void **state)
{
	char *const words[] = {(char *)"A=1", (char *)"AB=2", (char *)"no name", NULL};
	struct command_environment environment;

	assert_int_equal(command_environment_copy(words, &environment), 0);
	assert_int_equal(environment.words.count, 3);
	assert_string_equal(command_environment_get(&environment, "A"), "1");
	assert_int_equal(command_environment_set(&environment, "A", "x=y"), 0);
	assert_string_equal(command_environment_get(&environment, "A"), "x=y");
	assert_string_equal(environment.words.items[0], "AB=2");
	assert_string_equal(environment.words.items[2], "A=x=y");
	assert_null(environment.words.items[3]);
	command_environment_done(&environment);
}

static void what_is_unset_is_gone_each_time_it_is_there(void **state)
{
	char *const words[] = {(char *)"A=1", (char *)"B=2", (char *)"A=3", NULL};
	struct command_environment environment;

	assert_int_equal(command_environment_copy(words, &environment), 0);
	command_environment_unset(&environment, "A");
	command_environment_unset(&environment, "C");
	assert_null(command_environment_get(&environment, "A"));
	assert_int_equal(environment.words.count, 1);
	assert_null(environment.words.items[1]);
	command_environment_done(&environment);
}

static void an_empty_environment_is_a_list_that_ends(void **state)
{
	char *const words[] = {NULL};
	struct command_environment environment;

	assert_int_equal(command_environment_copy(words, &environment), 0);
	assert_null(environment.words.items[0]);
	command_environment_unset(&environment, "A");
	assert_null(environment.words.items[0]);
	command_environment_done(&environment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_has_what_was_there_and_what_is_set),
		cmocka_unit_test(what_is_unset_is_gone_each_time_it_is_there),
		cmocka_unit_test(an_empty_environment_is_a_list_that_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
