// SPDX-License-Identifier: BSD-2-Clause
/* Tests for rows/python_calls and rows/python_times: sums by function and caller, order, and times
 * of stacks at the function that was counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "python_call_rows.h"
#include "rows/python_calls.h"
#include "profile/slice/slice.h"

static struct profile *profile;
static struct python_calls_rows rows;

static int setup(void **state)
{
	profile = slice_new();
	profile_info(profile)->frequency_hz = 100;
	python_call_rows_fill(profile);
	return 0;
}

static int teardown(void **state)
{
	python_calls_rows_done(&rows);
	profile_free(profile);
	return 0;
}

static const struct python_function *find(const char *name, uint32_t line, size_t *ret_place)
{
	for (size_t i = 0; i < rows.function_count; i++)
		if (!strcmp(rows.functions[i].name, name) && rows.functions[i].line == line) {
			if (ret_place)
				*ret_place = i;
			return &rows.functions[i];
		}
	fail_msg("no function %s in line %u", name, line);
	return NULL;
}

static const struct python_caller *find_caller(const char *name, uint32_t line, const char *caller)
{
	size_t place;

	find(name, line, &place);
	for (size_t i = 0; i < rows.caller_count; i++)
		if (rows.callers[i].function == place &&
		    rows.callers[i].caller != PYTHON_CALLS_NONE &&
		    !strcmp(rows.functions[rows.callers[i].caller].name, caller))
			return &rows.callers[i];
	fail_msg("%s is not called by %s", name, caller);
	return NULL;
}

static void calls_add_up_by_function(void **state)
{
	assert_int_equal(python_calls_rows_make(&rows, profile), 0);
	assert_int_equal(rows.function_count, 5);
	assert_int_equal(rows.calls, 5000000017);
	assert_int_equal(rows.primitive, 17);
	assert_int_equal(rows.sums[PYTHON_CALL_PROCESSES], 2);
	/* Without times, most calls first. */
	assert_string_equal(rows.functions[0].name, "fib");
	assert_int_equal(rows.functions[0].calls, 5000000002);
	assert_int_equal(rows.functions[0].primitive, 2);
	assert_string_equal(rows.functions[1].file, "");
	assert_int_equal(find("f", 10, NULL)->calls, 3);
	assert_int_equal(find("f", 20, NULL)->calls, 4);
	assert_int_equal(find_caller("fib", 2, "fib")->first, 4);
	assert_int_equal(rows.line_count, 2);
	assert_int_equal(rows.lines[0].hits, 11);
	assert_string_equal(rows.functions[rows.lines[0].function].name, "f");
	assert_int_equal(rows.functions[rows.lines[0].function].line, 10);
	(void)state;
}

static void times_are_at_the_function_that_begins_above_the_line(void **state)
{
	static const struct python_call_words stack[] = {
		{"", "", 1}, {"f", PYTHON_FILE, 22}, {"<module>", PYTHON_FILE, 40}};
	static const struct python_call_words other[] = {{"f", PYTHON_FILE, 19},
							 {"<module>", PYTHON_FILE, 40}};

	python_call_rows_stack(profile, PKBPF_PROFILE_CPU, stack, 3, 5);
	python_call_rows_stack(profile, PKBPF_PROFILE_OFFCPU, other, 2, 7);
	assert_int_equal(python_calls_rows_make(&rows, profile), 0);
	assert_int_equal(find("f", 20, NULL)->self_ns, 5 * NS_PER_SECOND / 100);
	assert_int_equal(find("f", 20, NULL)->total_ns, 5 * NS_PER_SECOND / 100);
	assert_int_equal(find("f", 10, NULL)->self_ns, 7);
	assert_int_equal(find("<module>", 1, NULL)->self_ns, 0);
	assert_int_equal(find("<module>", 1, NULL)->total_ns, 5 * NS_PER_SECOND / 100 + 7);
	assert_int_equal(find_caller("f", 20, "<module>")->self_ns, 5 * NS_PER_SECOND / 100);
	assert_int_equal(find_caller("f", 10, "<module>")->total_ns, 7);
	assert_true(rows.has_waits);
	/* Most self time first. */
	assert_int_equal(rows.functions[0].line, 20);
	(void)state;
}

static void a_recursion_counts_once_a_stack(void **state)
{
	static const struct python_call_words stack[] = {{"fib", PYTHON_FILE, 3},
							 {"fib", PYTHON_FILE, 3},
							 {"fib", PYTHON_FILE, 3},
							 {"<module>", PYTHON_FILE, 5}};

	python_call_rows_stack(profile, PKBPF_PROFILE_CPU, stack, 4, 2);
	assert_int_equal(python_calls_rows_make(&rows, profile), 0);
	assert_int_equal(find("fib", 2, NULL)->total_ns, 2 * NS_PER_SECOND / 100);
	assert_int_equal(find_caller("fib", 2, "fib")->total_ns, 2 * NS_PER_SECOND / 100);
	assert_int_equal(find_caller("fib", 2, "fib")->self_ns, 2 * NS_PER_SECOND / 100);
	assert_int_equal(find_caller("fib", 2, "<module>")->total_ns, 2 * NS_PER_SECOND / 100);
	assert_int_equal(find_caller("fib", 2, "<module>")->self_ns, 0);
	assert_false(rows.has_waits);
	(void)state;
}

static void functions_that_were_not_counted_have_no_row(void **state)
{
	static const struct python_call_words stack[] = {{"f", "/other.py", 22},
							 {"f", PYTHON_FILE, 5}, /* above both */
							 {"fib", PYTHON_FILE, 3}};

	python_call_rows_stack(profile, PKBPF_PROFILE_CPU, stack, 3, 2);
	python_call_rows_stack(profile, PKBPF_PROFILE_BLOCKIO, stack + 2, 1, 2);
	assert_int_equal(python_calls_rows_make(&rows, profile), 0);
	assert_int_equal(rows.function_count, 5);
	assert_int_equal(find("fib", 2, NULL)->self_ns, 0);
	assert_int_equal(find("fib", 2, NULL)->total_ns, 2 * NS_PER_SECOND / 100);
	(void)state;
}

static void words_are_those_of_pstats(void **state)
{
	char text[PYTHON_FUNCTION_TEXT_SIZE], notes[1024];

	assert_int_equal(python_calls_rows_make(&rows, profile), 0);
	assert_string_equal(python_function_text(text, find("fib", 2, NULL)), "fib.py:2(fib)");
	assert_string_equal(
		python_function_text(text, find("<built-in method builtins.len>", 0, NULL)),
		"{built-in method builtins.len}");
	assert_string_equal(
		python_function_text(text, &(struct python_function){.name = "<", .file = ""}),
		"{<}");
	python_calls_notes(&rows, notes, sizeof(notes));
	assert_string_equal(notes, "");
	rows.sums[PYTHON_CALL_LOST] = 1;
	rows.sums[PYTHON_CALL_UNHOOKED] = 6;
	rows.sums[PYTHON_CALL_IDLE] = 2;
	python_calls_notes(&rows, notes, sizeof(notes));
	assert_string_equal(notes,
			    "1 call found no room in the tables of their process; 6 "
			    "threads began after the program added an audit hook: not "
			    "counted; 2 processes with Python inside ran no script: not counted");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_add_up_by_function, setup, teardown),
		cmocka_unit_test_setup_teardown(
			times_are_at_the_function_that_begins_above_the_line, setup, teardown),
		cmocka_unit_test_setup_teardown(a_recursion_counts_once_a_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(functions_that_were_not_counted_have_no_row, setup,
						teardown),
		cmocka_unit_test_setup_teardown(words_are_those_of_pstats, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
