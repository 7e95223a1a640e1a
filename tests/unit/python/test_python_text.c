// SPDX-License-Identifier: BSD-2-Clause
/* Tests for python/python_text: the three widths of characters, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "python/python_text.h"

static void characters_of_all_widths_become_utf8(void **state)
{
	static const struct {
		const char *text;
		size_t bytes;
		unsigned int width;
		const char *expected;
	} cases[] = {
		{"run", 3, 1, "<run>"},
		{"", 0, 1, "<>"},
		{"Gr\xfc\xdf", 4, 1, "<Grüß>"},
		{"\xac\x20\xe5\x65", 4, 2, "<€日>"},
		{"\x00\xf6\x01\x00\x41\x00\x00\x00", 8, 4, "<😀A>"},
		/* half a character at the end */
		{"\xe5\x65\x2c", 3, 2, "<日>"},
		/* NUL, surrogates, beyond the last character */
		{"a\0b", 3, 1,
		 "<a\xef\xbf\xbd"
		 "b>"},
		{"\x00\xd8\xff\xdf", 4, 2, "<\xef\xbf\xbd\xef\xbf\xbd>"},
		{"\x00\x00\x11\x00", 4, 4, "<\xef\xbf\xbd>"},
		/* no width that there is */
		{"abc", 3, 0, "<>"},
		{"abc", 3, 3, "<>"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *exact = malloc(cases[i].bytes + !cases[i].bytes);
		char *text;

		assert_non_null(exact);
		memcpy(exact, cases[i].text, cases[i].bytes);
		text = python_text_utf8(exact, cases[i].bytes, cases[i].width, "<", ">");
		assert_string_equal(text, cases[i].expected);
		free(text);
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_of_all_widths_become_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
