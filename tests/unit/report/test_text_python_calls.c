// SPDX-License-Identifier: BSD-2-Clause
/* Tests the section of Python calls: columns as cProfile's, lines, what is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_profile.h"
#include "python_call_rows.h"

static struct fake_profile fake;

static int setup(void **state)
{
	fake_profile_init(&fake, NULL);
	process_table_get(fake.processes, 7, "python3");
	fake_profile_name(&fake, NULL, 0);
	profile_info(fake.profile)->frequency_hz = 100;
	return 0;
}

static int teardown(void **state)
{
	fake_profile_done(&fake);
	return 0;
}

static void assert_has(const char *text, const char *words, bool expected)
{
	if ((strstr(text, words) != NULL) != expected)
		fail_msg("'%s' is %sin:\n%s", words, expected ? "not " : "", text);
}

static void nothing_without_calls(void **state)
{
	char *text = fake_profile_write(&fake, "text", NULL);

	assert_has(text, "Python calls", false);
	free(text);
	(void)state;
}

static void columns_are_those_of_cprofile(void **state)
{
	static const struct python_call_words stack[] = {{"f", PYTHON_FILE, 22}};
	char *text;

	python_call_rows_fill(fake.profile);
	python_call_rows_stack(fake.profile, PKBPF_PROFILE_CPU, stack, 1, 50);
	text = fake_profile_write(&fake, "text", NULL);
	assert_has(text,
		   "\nPython calls\n 5,000,000,017 calls (17 primitive) of 5 functions in 2 "
		   "processes\n",
		   true);
	assert_has(text, "ncalls tottime percall cumtime percall filename:lineno(function)\n",
		   true);
	assert_has(text, "            4   0.500   0.125   0.500   0.125 fib.py:20(f)\n", true);
	assert_has(text, " 5000000002/2   0.000   0.000   0.000   0.000 fib.py:2(fib)\n", true);
	assert_has(text, "7       -       -       -       - {built-in method builtins.len}\n",
		   true);
	assert_has(text, " hits line filename:lineno(function)\n   11   12 fib.py:10(f)\n", true);
	assert_has(text, "calls are exact; times are sampled (CPU time at 100 Hz)", true);
	free(text);
	(void)state;
}

static void times_that_were_not_recorded_are_not_zero(void **state)
{
	static const struct python_call_words stack[] = {{"f", PYTHON_FILE, 22}};
	char *text;

	python_call_rows_fill(fake.profile);
	text = fake_profile_write(&fake, "text", NULL);
	assert_has(text, " 5000000002/2       -       -       -       - fib.py:2(fib)\n", true);
	assert_has(text, "calls are exact; no times were recorded", true);
	assert_has(text, "sampled", false);
	free(text);
	python_call_rows_stack(fake.profile, PKBPF_PROFILE_OFFCPU, stack, 1, 500000000);
	text = fake_profile_write(&fake, "text", NULL);
	assert_has(text, "            4   0.500   0.125   0.500   0.125 fib.py:20(f)\n", true);
	assert_has(text, "calls are exact; times are those of waits, with", true);
	free(text);
	(void)state;
}

static void counts_that_are_missing_are_said(void **state)
{
	static const struct python_call_words none = {"", "", 0};
	char *text;

	python_call_rows_add(fake.profile, PYTHON_CALL_REFUSED, none, none, (uint64_t[]){3, 0, 0},
			     0);
	text = fake_profile_write(&fake, "text", NULL);
	assert_has(text, "\nPython calls\n 0 calls of 0 functions in 0 processes\n", true);
	assert_has(text, "ncalls", false);
	assert_has(text, "with a Python other than CPython 3.8 to 3.13", true);
	assert_has(text, "; 3 processes", true);
	free(text);
	(void)state;
}

static void the_page_has_the_first_ones(void **state)
{
	struct format_options options = {.top = 10};
	char *text;

	python_call_rows_fill(fake.profile);
	text = fake_profile_write(&fake, "text", &options);
	assert_has(text, "\nPython calls\n", true);
	assert_has(text, "fib.py:2(fib)\n", true);
	free(text);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_without_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(columns_are_those_of_cprofile, setup, teardown),
		cmocka_unit_test_setup_teardown(times_that_were_not_recorded_are_not_zero, setup,
						teardown),
		cmocka_unit_test_setup_teardown(counts_that_are_missing_are_said, setup, teardown),
		cmocka_unit_test_setup_teardown(the_page_has_the_first_ones, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
