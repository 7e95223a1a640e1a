// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/v8_glue: V8's own code that is left out among JavaScript frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbol/v8_glue.h"

static bool is_glue(const char *name, enum frame_neighbours neighbours)
{
	struct symbol_line line = {.function = name};
	struct symbol symbol = {.result = SYMBOL_FOUND, .lines = &line, .line_count = 1};

	v8_glue_mark(&symbol, neighbours);
	return symbol.flags & SYMBOL_IS_GLUE;
}

static void test_names(void **state)
{
	static const char *const glue[] = {
		"Builtins_InterpreterEntryTrampoline",
		"Builtins_JSEntryTrampoline",
		"Builtins_CEntry_Return1_ArgvOnStack_BuiltinExit",
		"Builtins_CallProperty1Handler",
		"Builtins_JSConstructStubGeneric",
	};
	static const char *const kept[] = {
		"Builtins_ArrayMap", "Builtins_LoadIC",
		"Builtins_Handler",  "v8::internal::Heap::CollectGarbage",
		"CEntry_1",	     "MyHandler",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(glue) / sizeof(*glue); i++) {
		assert_true(is_glue(glue[i], FRAME_AMONG_JAVASCRIPT));
		assert_false(is_glue(glue[i], FRAME_ALONE));
		assert_false(is_glue(glue[i], FRAME_CALLS_PYTHON));
	}
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		assert_false(is_glue(kept[i], FRAME_AMONG_JAVASCRIPT));
}

static void test_without_name(void **state)
{
	struct symbol symbol = {.result = SYMBOL_STRIPPED};

	(void)state;
	v8_glue_mark(&symbol, FRAME_AMONG_JAVASCRIPT);
	assert_int_equal(symbol.flags, 0);
	assert_false(is_glue(NULL, FRAME_AMONG_JAVASCRIPT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_without_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
