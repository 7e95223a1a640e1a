// SPDX-License-Identifier: BSD-2-Clause
/* Tests for v8/v8_image: why functions of an image have no names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "v8/v8_image.h"

static void test_trouble(void **state)
{
	struct v8_image image = {.major = 13, .minor = 7};

	(void)state;
	assert_non_null(strstr(v8_image_trouble(&image), "version is not known"));
	image.disagrees = true;
	assert_non_null(strstr(v8_image_trouble(&image), "do not match"));
	/* The version says nothing there. */
	image = (struct v8_image){.major = 12, .minor = 4, .other_machine = true};
	assert_non_null(strstr(v8_image_trouble(&image), "x86-64 only"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
