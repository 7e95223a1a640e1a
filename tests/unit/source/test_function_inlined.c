// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/regions/function_inlined: what is said of inlined copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "elf/inlined_functions.h"
#include "source/regions/function_inlined.h"

static char said[2048];
static size_t lines;
/* The copies of each function, and what the search ends with. */
static const uint32_t *copies;
static size_t copy_count;
static int search_end;

static void write_said(void *context, enum log_level level, const char *text)
{
	size_t used = strlen(said);

	(void)context;
	(void)level;
	lines++;
	snprintf(said + used, sizeof(said) - used, "%s\n", text);
}

/* Functions f0, f1, ... of which the judge means those whose number is not odd. */
static int find_copies(const struct elf_file *file, inlined_judge *judge, void *context,
		       struct inlined_functions *functions)
{
	assert_null(file);
	for (size_t i = 0; i < copy_count; i++) {
		struct inlined_function *function;
		char name[32], written[INLINED_NAME_BYTES];

		snprintf(name, sizeof(name), "odd%zu", i);
		assert_false(judge(context, name, written));
		snprintf(name, sizeof(name), "f%zu", i);
		assert_true(judge(context, name, written));
		assert_string_equal(name, written);
		function = array_add(&functions->items);
		assert_non_null(function);
		memset(function, 0, sizeof(*function));
		snprintf(function->name, sizeof(function->name), "%s", written);
		function->copies = copies[i];
		for (size_t j = 0; j < i && j < INLINED_CALLERS; j++)
			snprintf(function->callers[j], INLINED_NAME_BYTES, "caller%zu", j);
		function->has_more_callers = i > INLINED_CALLERS;
	}
	return search_end;
}

static void tell(const uint32_t *of_each, size_t count, int end)
{
	static const char *const patterns[] = {"f*"};
	static const struct log log = {.max_level = LOG_INFO, .write = write_said};
	const struct function_set_options set_options = {.patterns = patterns, .pattern_count = 1};
	const struct session_options options = {.log = &log, .find_inlined = find_copies};
	struct function_set *set;

	said[0] = '\0';
	lines = 0;
	copies = of_each;
	copy_count = count;
	search_end = end;
	assert_int_equal(function_set_new(&set_options, &set), 0);
	function_inlined_tell(set, &options, NULL, "/bin/app");
	function_set_free(set);
}

static void callers_are_named_as_far_as_they_are_known(void **state)
{
	static const uint32_t of_each[] = {5, 4, 3, 2, 1};

	tell(of_each, 5, 0);
	assert_string_equal(
		said,
		"f0() of /bin/app has 5 inlined copies, whose calls are not counted\n"
		"f1() of /bin/app has 4 inlined copies in caller0(), whose calls are not counted\n"
		"f2() of /bin/app has 3 inlined copies in caller0(), caller1(), whose calls are "
		"not "
		"counted\n"
		"f3() of /bin/app has 2 inlined copies in caller0(), caller1(), caller2(), whose "
		"calls are not counted\n"
		"f4() of /bin/app has 1 inlined copy in caller0(), caller1(), caller2() and "
		"others, "
		"whose calls are not counted\n");
}

static void those_with_most_copies_come_first(void **state)
{
	static const uint32_t of_each[] = {1, 7, 3, 6, 5, 4, 2};

	tell(of_each, 7, 0);
	assert_int_equal(lines, 6);
	assert_true(strstr(said, "f1() of") < strstr(said, "f3() of"));
	assert_true(strstr(said, "f3() of") < strstr(said, "f4() of"));
	assert_true(strstr(said, "f5() of") < strstr(said, "f2() of"));
	assert_null(strstr(said, "f6() of"));
	assert_null(strstr(said, "f0() of"));
	assert_non_null(strstr(said, "\n2 more of its functions have inlined copies\n"));
}

static void a_search_that_fails_is_said(void **state)
{
	static const uint32_t one = 1;

	tell(&one, 0, 0);
	assert_string_equal(said, "");
	tell(&one, 1, -ETIME);
	assert_non_null(strstr(said, "f0() of"));
	assert_non_null(strstr(said, "cannot tell all inlined functions of /bin/app: its debug "
				     "information is too large"));
	tell(&one, 0, -EIO);
	assert_string_equal(said, "cannot tell all inlined functions of /bin/app: Input/output "
				  "error\n");
}

/* Names of three callers as long as they may be. */
static int find_long_names(const struct elf_file *file, inlined_judge *judge, void *context,
			   struct inlined_functions *functions)
{
	struct inlined_function *function = array_add(&functions->items);

	assert_non_null(function);
	memset(function, 0, sizeof(*function));
	function->copies = 3;
	for (int i = 0; i < INLINED_CALLERS; i++)
		memset(function->callers[i], 'a' + i, INLINED_NAME_BYTES - 1);
	return 0;
}

static void long_names_of_callers_are_not_cut(void **state)
{
	static const struct log log = {.max_level = LOG_INFO, .write = write_said};
	const struct session_options options = {.log = &log, .find_inlined = find_long_names};

	said[0] = '\0';
	function_inlined_tell(NULL, &options, NULL, "/bin/app");
	assert_non_null(strstr(said, "ccc(), whose calls are not counted"));
}

static void without_a_search_nothing_is_said(void **state)
{
	static const struct log log = {.max_level = LOG_INFO, .write = write_said};
	const struct session_options options = {.log = &log};

	said[0] = '\0';
	function_inlined_tell(NULL, &options, NULL, "/bin/app");
	assert_string_equal(said, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_are_named_as_far_as_they_are_known),
		cmocka_unit_test(those_with_most_copies_come_first),
		cmocka_unit_test(a_search_that_fails_is_said),
		cmocka_unit_test(long_names_of_callers_are_not_cut),
		cmocka_unit_test(without_a_search_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
