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
	bool is_glue;
};

static void knows_calls_from_what_is_called(void **state)
{
	static const struct glue_case cases[] = {
		{"_PyEval_EvalFrameDefault", "python3.11", 0, true},
		{"_PyEval_EvalFrameDefault.cold", "libpython3.8.so.1.0", 0, true},
		{"method_vectorcall_VARARGS.lto_priv.0", "uwsgi", 0, true},
		{"Py_BytesMain", "python3.11", 0, true},
		{"py::run:/app/pool.py", NULL, SYMBOL_IS_JIT, true},
		{"list_sort", "python3.11", 0, false},
		{"builtin_sorted", "python3.11", 0, false},
		{"sre_ucs1_match", "python3.11", 0, false},
		{"main", "python3.11", 0, false},
		{"py::run", "app", 0, false},
		{"run (pool.py)", "pool.py", SYMBOL_IS_PYTHON, false},
		{"_PyEval_EvalFrameDefault", "kernel", SYMBOL_IS_KERNEL, false},
		/* static functions of stripped interpreters */
		{NULL, "python3.11", 0, true},
		{NULL, "libpython3.13t.so.1.0", 0, true},
		{NULL, "libpq.so.5", 0, false},
		{NULL, "pythonic", 0, false},
		{NULL, NULL, 0, false},
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

		if (python_glue_is(&symbol) != cases[i].is_glue)
			fail_msg("case %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_calls_from_what_is_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
