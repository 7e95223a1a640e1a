// SPDX-License-Identifier: BSD-2-Clause
/* Tests which functions name a place of allocation. */
#include "rows/heap_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "profile/slice/slice.h"

#define MOST 3

/* The names of a place with these functions, leaf first, with commas; those with "@" are Python's.
 */
static void assert_place(const char *const *stack, size_t count, const char *expected)
{
	static const struct function_table_options plain = {.lines = false};
	struct profile *profile = slice_new();
	const struct function *chosen[MOST];
	struct heap_place place = {.pid = 7};
	struct function_table *functions;
	char text[256] = "";
	uint32_t frames[8];

	for (size_t i = 0; i < count; i++) {
		bool is_python = stack[i][0] == '@';
		struct symbol_line line = {.function = stack[i] + is_python,
					   .file = is_python ? "/x/a.py" : ""};
		struct frame frame = {.location = {.space = FRAME_FILE},
				      .symbol = {.result = SYMBOL_FOUND,
						 .module = "app",
						 .lines = &line,
						 .line_count = 1},
				      .named = true};

		if (is_python)
			frame.symbol.flags = SYMBOL_IS_PYTHON;
		frames[i] = profile_put_frame(profile, &frame);
	}
	place.stack = profile_intern_stack(profile, frames, count);
	functions = function_table_new(profile, &plain);
	count = heap_place_functions(profile, functions, &place, chosen, MOST);
	for (size_t i = 0; i < count; i++) {
		strcat(text, i ? "," : "");
		strcat(text, chosen[i]->name);
	}
	assert_string_equal(text, expected);
	function_table_free(functions);
	profile_free(profile);
}

static void a_place_is_next_to_the_allocator(void **state)
{
	static const char *const stack[] = {
		"operator new(unsigned long)", "push", "grow", "work", "main", "_start"};

	assert_place(stack, ARRAY_SIZE(stack), "push,grow,work");
	assert_place(stack + 4, 2, "main");
}

static void a_place_of_an_interpreter_has_the_function_that_it_runs(void **state)
{
	static const char *const stack[] = {"_PyObject_Malloc",
					    "PyByteArray_Resize",
					    "bytearray_init",
					    "type_call",
					    "@leak",
					    "@main"};

	assert_place(stack, ARRAY_SIZE(stack), "_PyObject_Malloc,PyByteArray_Resize,leak (a.py)");
	assert_place(stack + 2, 4, "bytearray_init,type_call,leak (a.py)");
	assert_place(stack + 3, 3, "type_call,leak (a.py),main (a.py)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_is_next_to_the_allocator),
		cmocka_unit_test(a_place_of_an_interpreter_has_the_function_that_it_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
