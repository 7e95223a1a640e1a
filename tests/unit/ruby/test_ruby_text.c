// SPDX-License-Identifier: BSD-2-Clause
/* Tests for ruby/ruby_text: whatever bytes a string has, its text is UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ruby/ruby_text.h"

static void bytes_become_utf8(void **state)
{
	static const struct {
		const char *bytes, *before, *after, *text;
	} cases[] = {
		{"add", "", "", "add"},
		{"gr\xc3\xb6\xc3\x9f"
		 "e",
		 "", "", "größe"},
		{"\xe6\x97\xa5\xf0\x9f\x98\x80", "", "", "日😀"},
		{"a\xff"
		 "b",
		 "", "",
		 "a\xef\xbf\xbd"
		 "b"},
		/* too long, a surrogate, too large, a first byte alone */
		{"\xc0\x80", "", "", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xe0\x80\x80", "", "", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xed\xa0\x80", "", "", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xf4\x90\x80\x80", "", "", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xc3x", "", "", "\xef\xbf\xbdx"},
		/* cut in a character */
		{"x\xe6\x97", "", "…", "x…"},
		{"x\xe6\x97", "", "", "x\xef\xbf\xbd"},
		{"\x97\xa5x", "…", "", "…x"},
		{"", "…", "", "…"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = ruby_text_utf8(cases[i].bytes, strlen(cases[i].bytes), cases[i].before,
					    cases[i].after);

		assert_non_null(text);
		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

static void zeros_do_not_end_a_text(void **state)
{
	char *text = ruby_text_utf8("a\0b", 3, "", "");

	(void)state;
	assert_string_equal(text, "a\xef\xbf\xbd"
				  "b");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_become_utf8),
		cmocka_unit_test(zeros_do_not_end_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
