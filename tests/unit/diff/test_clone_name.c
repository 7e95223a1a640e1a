// SPDX-License-Identifier: BSD-2-Clause
/* Tests for diff/clone_name: copies of a function have its name, and other names stay whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "diff/clone_name.h"

static void copies_have_the_name_of_their_function(void **state)
{
	static const struct {
		const char *name, *function;
	} rows[] = {
		{"parse", "parse"},
		{"parse.constprop.0", "parse"},
		{"parse.isra.12", "parse"},
		{"parse.part.0.isra.0", "parse"},
		{"parse.constprop.0.isra.1.cold", "parse"},
		{"parse.cold", "parse"},
		{"parse.cold.3", "parse"},
		{"parse.lto_priv.0", "parse"},
		{"parse.llvm.1234567890123", "parse"},
		{"ns::f(int) [clone .constprop.0]", "ns::f(int)"},
		{"ns::f(int) [clone .isra.0] [clone .cold]", "ns::f(int)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)clone_name_length(rows[i].name),
			 rows[i].name);
		assert_string_equal(name, rows[i].function);
	}
}

static void other_names_stay_as_they_are(void **state)
{
	static const char *const names[] = {"",
					    ".cold",
					    ".isra.0",
					    "main.part",
					    "parse.0",
					    "parse.isra",
					    "parse.isra.",
					    "parse.isra.0x",
					    "runtime.mallocgc",
					    "main.(*T).f.func1",
					    "operator[]",
					    "x[clone]",
					    " [clone .cold]"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(clone_name_length(names[i]), strlen(names[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_have_the_name_of_their_function),
		cmocka_unit_test(other_names_stay_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
