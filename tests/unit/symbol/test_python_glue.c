// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/python_glue: what leads from one Python function to the next, and what the
 * program called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/array.h"
#include "symbol/python_glue.h"

struct glue_case {
	const char *function; /* NULL: no name */
	const char *module;
	uint32_t flags;
	bool is_glue;	    /* where it calls Python */
	bool is_glue_below; /* where it is called by Python */
};

static bool is_marked(struct symbol symbol, enum frame_neighbours neighbours)
{
	python_glue_mark(&symbol, neighbours);
	return symbol.flags & SYMBOL_IS_GLUE;
}

static void knows_calls_from_what_is_called(void **state)
{
	static const struct glue_case cases[] = {
		{"_PyEval_EvalFrameDefault", "python3.11", 0, true, true},
		{"_PyEval_EvalFrameDefault.cold", "libpython3.8.so.1.0", 0, true, true},
		{"method_vectorcall_VARARGS.lto_priv.0", "uwsgi", 0, true, true},
		{"Py_BytesMain", "python3.11", 0, true, false},
		{"py::run:/app/pool.py", NULL, SYMBOL_IS_JIT, true, true},
		{"PyObject_GetAttr", "python3.11", 0, true, false},
		{"slot_tp_call", "python3.11", 0, true, false},
		{"cfunction_vectorcall_O", "python3.11", 0, true, true},
		{"list_sort", "python3.11", 0, false, false},
		{"builtin_sorted", "python3.11", 0, false, false},
		{"sre_ucs1_match", "python3.11", 0, false, false},
		{"main", "python3.11", 0, false, false},
		{"py::run", "app", 0, false, false},
		{"run (pool.py)", "pool.py", SYMBOL_IS_PYTHON, false, false},
		{"_PyEval_EvalFrameDefault", "kernel", SYMBOL_IS_KERNEL, false, false},
		/* Ruby's */
		{"vm_exec_core", "ruby", 0, true, true},
		{"rb_vm_exec", "libruby-3.1.so.3.1.2", 0, true, true},
		{"rb_yield_values2", "libruby-3.1.so.3.1.2", 0, true, true},
		{"ruby_run_node", "libruby-3.1.so.3.1.2", 0, true, false},
		{"rb_ary_each", "libruby-3.1.so.3.1.2", 0, false, false},
		{NULL, "libruby-3.1.so.3.1.2", 0, true, true},
		{NULL, "ruby3.1", 0, true, true},
		{NULL, "rubyish.so", 0, false, false},
		/* static functions of stripped interpreters */
		{NULL, "python3.11", 0, true, true},
		{NULL, "libpython3.13t.so.1.0", 0, true, true},
		{NULL, "libpq.so.5", 0, false, false},
		{NULL, "pythonic", 0, false, false},
		{NULL, NULL, 0, false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct symbol_line line = {.function = cases[i].function};
		struct symbol symbol = {
			.flags = cases[i].flags,
			.module = cases[i].module,
			.lines = &line,
			.line_count = cases[i].function != NULL,
		};

		if (is_marked(symbol, FRAME_CALLS_PYTHON) != cases[i].is_glue ||
		    is_marked(symbol, FRAME_CALLED_BY_PYTHON) != cases[i].is_glue_below ||
		    is_marked(symbol, FRAME_ALONE))
			fail_msg("case %zu", i);
	}
}

static void takes_off_what_was_inlined(void **state)
{
	const struct symbol_line lines[] = {
		{.function = "_PyObject_VectorcallTstate", .inlined = true},
		{.function = "PyObject_CallOneArg", .inlined = true},
		{.function = "context_run"},
	};
	struct symbol symbol = {
		.module = "python3.11", .lines = lines, .line_count = ARRAY_SIZE(lines)};
	struct symbol away = symbol;

	(void)state;
	python_glue_mark(&away, FRAME_ALONE);
	assert_int_equal(away.line_count, 3);
	python_glue_mark(&symbol, FRAME_CALLED_BY_PYTHON);
	assert_int_equal(symbol.line_count, 1);
	assert_string_equal(symbol.lines[0].function, "context_run");
	assert_false(symbol.flags & SYMBOL_IS_GLUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_calls_from_what_is_called),
		cmocka_unit_test(takes_off_what_was_inlined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
