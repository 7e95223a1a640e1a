// SPDX-License-Identifier: BSD-2-Clause
/* Tests for profile/python_call_file: counts that a process left become rows, and what refers to
 * nothing is lost, and said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "base/array.h"
#include "profile/python_call_file.h"
#include "profile/slice/slice.h"

/* The strings' places are those of the words below. */
static const char strings[] = "\0fib\0/app/fib.py\0A.fib\0cut";
enum { AT_FIB = 1, AT_FILE = 5, AT_QUALIFIED = 17, AT_CUT = 23 };

static const struct pkbpf_python_function functions[] = {
	{0},
	{.name = AT_FIB, .file = AT_FILE, .qualified = AT_QUALIFIED, .first_line = 2},
	{.name = 99999, .file = 0, .first_line = 0},
	{.name = AT_CUT},
};

static struct python_call_parts parts_of(const struct pkbpf_python_edge *edges, size_t edge_count,
					 const struct pkbpf_python_line *lines, size_t line_count)
{
	struct python_call_parts parts = {
		.head = {.magic = PKBPF_PYTHON_CALLS_MAGIC,
			 .state = PKBPF_PYTHON_COUNTS,
			 .functions = ARRAY_SIZE(functions),
			 .edges = (uint32_t)edge_count,
			 .lines = (uint32_t)line_count,
			 .strings = sizeof(strings) - 1},
		.functions = functions,
		.edges = edges,
		.lines = lines,
		.strings = strings,
	};

	assert_int_equal(python_call_parts_begin(&parts), 0);
	return parts;
}

static const struct python_call *row_of(const struct profile *profile, enum python_call_what what,
					uint32_t line, uint32_t caller_line)
{
	array_foreach(&profile_python_calls(profile)->items, call) {
		if (call->what == what && call->line == line && call->caller_line == caller_line)
			return call;
	}
	return NULL;
}

static void counts_become_rows_with_names(void **state)
{
	static const struct pkbpf_python_edge edges[] = {
		{.callee = 3, .calls = 77}, /* row 0 is none */
		{.caller = 0, .callee = 1, .calls = 3, .primitive = 3, .first = 3},
		{.caller = 1, .callee = 1, .calls = 9, .primitive = 0, .first = 2},
		{.caller = 1, .callee = 2, .calls = 4, .primitive = 5, .first = 6},
		{.caller = 1, .callee = 3, .calls = 0},
	};
	static const struct pkbpf_python_line lines[] = {{0},
							 {.function = 1, .line = 7, .hits = 8}};
	struct python_call_parts parts = parts_of(edges, 5, lines, 2);
	struct profile *profile = slice_new();
	const struct python_call *call;

	assert_int_equal(python_call_parts_add(&parts, profile), 0);
	/* Two calls of fib, one of "?", a line, a process. */
	assert_int_equal(profile_python_calls(profile)->items.count, 5);
	call = row_of(profile, PYTHON_CALL_EDGE, 2, 2);
	assert_non_null(call);
	assert_string_equal(profile_string(profile, call->name), "fib");
	assert_string_equal(profile_string(profile, call->file), "/app/fib.py");
	assert_string_equal(profile_string(profile, call->qualified), "A.fib");
	assert_string_equal(profile_string(profile, call->caller_name), "fib");
	assert_int_equal(call->count, 9);
	assert_int_equal(call->first, 2);
	call = row_of(profile, PYTHON_CALL_EDGE, 0, 2);
	assert_non_null(call);
	assert_string_equal(profile_string(profile, call->name), "?");
	/* Stopped between two of them: none is more than all. */
	assert_int_equal(call->primitive, 4);
	assert_int_equal(call->first, 4);
	call = row_of(profile, PYTHON_CALL_LINE, 2, 0);
	assert_non_null(call);
	assert_int_equal(call->at, 7);
	assert_int_equal(call->count, 8);
	assert_int_equal(python_call_list_sum(profile_python_calls(profile), PYTHON_CALL_PROCESSES),
			 1);
	profile_free(profile);
	(void)state;
}

static void what_refers_to_nothing_is_lost(void **state)
{
	static const struct pkbpf_python_edge edges[] = {
		{0},
		{.callee = 4, .calls = 10},
		{.callee = 0, .calls = 20},
		{.caller = UINT32_MAX, .callee = 1, .calls = 40},
	};
	static const struct pkbpf_python_line lines[] = {{0}, {.function = 9, .hits = 5}};
	struct python_call_parts parts = parts_of(edges, 4, lines, 2);
	struct profile *profile = slice_new();
	const struct python_call_list *list = profile_python_calls(profile);

	parts.head.lost_calls = 100;
	parts.head.replaced = 2;
	parts.head.interpreters = 3;
	assert_int_equal(python_call_parts_add(&parts, profile), 0);
	assert_int_equal(python_call_list_sum(list, PYTHON_CALL_EDGE), 0);
	assert_int_equal(python_call_list_sum(list, PYTHON_CALL_LOST), 170);
	assert_int_equal(python_call_list_sum(list, PYTHON_CALL_LOST_LINES), 5);
	assert_int_equal(python_call_list_sum(list, PYTHON_CALL_REPLACED), 2);
	assert_int_equal(python_call_list_sum(list, PYTHON_CALL_INTERPRETERS), 3);
	profile_free(profile);
	(void)state;
}

static void names_have_a_limit(void **state)
{
	static const struct pkbpf_python_edge edges[] = {{0}, {.callee = 1, .calls = 10}};
	struct python_call_parts parts = parts_of(edges, 2, NULL, 0);
	struct profile *profile = slice_new();

	parts.names_most = 1;
	assert_int_equal(python_call_parts_add(&parts, profile), 0);
	assert_int_equal(python_call_list_sum(profile_python_calls(profile), PYTHON_CALL_LOST), 10);
	parts.names_most = profile_names_bytes(profile) + 1;
	assert_int_equal(python_call_parts_add(&parts, profile), 0);
	assert_int_equal(python_call_list_sum(profile_python_calls(profile), PYTHON_CALL_EDGE), 10);
	profile_free(profile);
	(void)state;
}

static void a_head_is_checked_and_bounded(void **state)
{
	struct python_call_parts parts = {.head = {.magic = PKBPF_PYTHON_CALLS_MAGIC,
						   .state = PKBPF_PYTHON_COUNTS,
						   .functions = UINT32_MAX,
						   .edges = UINT32_MAX,
						   .lines = UINT32_MAX,
						   .strings = UINT32_MAX}};

	assert_int_equal(python_call_parts_begin(&parts), 0);
	assert_int_equal(parts.function_count, PKBPF_PYTHON_FUNCTIONS);
	assert_int_equal(parts.edge_count, PKBPF_PYTHON_EDGES);
	assert_int_equal(parts.line_count, PKBPF_PYTHON_LINES);
	assert_int_equal(parts.string_bytes, PKBPF_PYTHON_STRINGS);
	parts.head.state = 0;
	assert_int_equal(python_call_parts_begin(&parts), -EBADMSG);
	parts.head.state = PKBPF_PYTHON_REFUSED + 1;
	assert_int_equal(python_call_parts_begin(&parts), -EBADMSG);
	parts.head.state = PKBPF_PYTHON_LOADED;
	parts.head.magic++;
	assert_int_equal(python_call_parts_begin(&parts), -EBADMSG);
	(void)state;
}

static void processes_without_counts_are_said(void **state)
{
	static const struct {
		enum pkbpf_python_state state;
		enum python_call_what what;
	} cases[] = {{PKBPF_PYTHON_LOADED, PYTHON_CALL_IDLE},
		     {PKBPF_PYTHON_REFUSED, PYTHON_CALL_REFUSED}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct python_call_parts parts = parts_of(NULL, 0, NULL, 0);
		struct profile *profile = slice_new();

		parts.head.state = cases[i].state;
		assert_int_equal(python_call_parts_add(&parts, profile), 0);
		assert_int_equal(python_call_list_sum(profile_python_calls(profile), cases[i].what),
				 1);
		assert_int_equal(profile_python_calls(profile)->items.count, 1);
		profile_free(profile);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_become_rows_with_names),
		cmocka_unit_test(what_refers_to_nothing_is_lost),
		cmocka_unit_test(names_have_a_limit),
		cmocka_unit_test(a_head_is_checked_and_bounded),
		cmocka_unit_test(processes_without_counts_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
