// SPDX-License-Identifier: BSD-2-Clause
/* Tests what mangled names become, and that hostile ones end. */
#include "elf/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"

static void names_come_out_without_parameters_and_hash(void **state)
{
	static const struct {
		const char *mangled, *expected;
	} rows[] = {
		{"_ZN2ns5Class6methodEi", "ns::Class::method"},
		{"_Z3fooIiEvT_", "foo<int>"},
		{"_ZSt4sortIPiEvT_S1_", "std::sort<int*>"},
		{"_ZN12_GLOBAL__N_14funcEv", "(anonymous namespace)::func"},
		{"_ZN3fooC1Ev", "foo::foo"},
		{"_Z3fooi.isra.0", "foo"},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
		{"_ZN61_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..fmt..Debug$GT$"
		 "3fmt17h0123456789abcdefE",
		 "<alloc::vec::Vec<T> as core::fmt::Debug>::fmt"},
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
		{"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[DEMANGLE_MAX_OUTPUT_BYTES];

		assert_true(demangle(rows[i].mangled, text, sizeof(text)));
		assert_string_equal(text, rows[i].expected);
	}
}

static void other_names_stay_as_they_are(void **state)
{
	static const char *const names[] = {"main",  "_start", "",	   "_",	   "_Z",    "_R",
					    "_Zqqq", "_ZN",    "__Z3foov", "_RNv", "Zebra", "R"};
	struct string_pool *strings = string_pool_new();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(demangle_name(strings, names[i]), names[i]);
	string_pool_free(strings);
}

static void output_is_cut_at_its_limit(void **state)
{
	char text[8];

	assert_true(demangle("_ZN2ns5Class6methodEi", text, sizeof(text)));
	assert_string_equal(text, "ns::...");
	assert_true(demangle("_Z3foov", text, 2));
	assert_string_equal(text, "f");
	assert_true(demangle("_Z3foov", text, 4));
	assert_string_equal(text, "foo");
}

static void name_that_doubles_with_every_part_ends_at_once(void **state)
{
	char mangled[DEMANGLE_MAX_INPUT_BYTES], text[DEMANGLE_MAX_OUTPUT_BYTES];
	uint64_t start = clock_now_ns();
	size_t size = 0;

	/* f<A<int,int>, A<T1,T1>, A<T2,T2>, …>: 2^200 ints */
	size += (size_t)sprintf(mangled, "_Z1fI1AIiiE");
	for (unsigned int i = 1; i < 34; i++) {
		char previous = i < 10 ? (char)('0' + i) : (char)('A' + i - 10);

		size += (size_t)sprintf(mangled + size, "S_IS%c_S%c_E", previous, previous);
	}
	sprintf(mangled + size, "Evv");
	demangle(mangled, text, sizeof(text));
	assert_true(clock_now_ns() - start < NS_PER_SECOND);
	assert_true(strlen(text) < sizeof(text));
}

static void deep_nesting_does_not_exhaust_the_stack(void **state)
{
	static char mangled[DEMANGLE_MAX_INPUT_BYTES + 1];
	char text[DEMANGLE_MAX_OUTPUT_BYTES];

	memset(mangled, 'P', sizeof(mangled) - 1);
	memcpy(mangled, "_Z1fI", 5);
	demangle(mangled, text, sizeof(text));
	memset(mangled, 'R', sizeof(mangled) - 1);
	memcpy(mangled, "_RINvC1a1b", 10);
	demangle(mangled, text, sizeof(text));
}

static void too_long_names_are_left_alone_and_cut(void **state)
{
	struct string_pool *strings = string_pool_new();
	char *name = malloc(3 * DEMANGLE_MAX_INPUT_BYTES);

	assert_non_null(name);
	memset(name, 'x', 3 * DEMANGLE_MAX_INPUT_BYTES);
	name[3 * DEMANGLE_MAX_INPUT_BYTES - 1] = '\0';
	memcpy(name, "_Z9000", 6);
	assert_int_equal(strlen(demangle_name(strings, name)), DEMANGLE_MAX_OUTPUT_BYTES);
	free(name);
	string_pool_free(strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_out_without_parameters_and_hash),
		cmocka_unit_test(other_names_stay_as_they_are),
		cmocka_unit_test(output_is_cut_at_its_limit),
		cmocka_unit_test(name_that_doubles_with_every_part_ends_at_once),
		cmocka_unit_test(deep_nesting_does_not_exhaust_the_stack),
		cmocka_unit_test(too_long_names_are_left_alone_and_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
