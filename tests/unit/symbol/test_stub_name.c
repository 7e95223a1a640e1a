// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/stub_name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbol/stub_name.h"

static void assert_is(const char *name, const char *expected)
{
	char text[64];

	stub_name(name, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void names_of_stubs_are_those_of_kernels(void **state)
{
	assert_is("scale", "scale");
	assert_is("_ZN4math3addEPfS0_", "math::add");
	assert_is("__device_stub__Z5scalePfi", "scale");
	assert_is("__device_stub__scale", "scale");
	assert_is("__device_stub__", "");
	assert_is("", "");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_stubs_are_those_of_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
