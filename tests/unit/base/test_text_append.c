// SPDX-License-Identifier: BSD-2-Clause
/* A text of several parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text_append.h"

static void parts_follow_each_other_until_the_buffer_is_full(void **state)
{
	char text[8] = "";

	text_append(text, sizeof(text), "%d", 12);
	assert_string_equal(text, "12");
	text_append(text, sizeof(text), ", %s", "more than fits");
	assert_string_equal(text, "12, mor");
	text_append(text, sizeof(text), "x");
	assert_string_equal(text, "12, mor");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_follow_each_other_until_the_buffer_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
