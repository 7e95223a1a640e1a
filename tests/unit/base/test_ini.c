// SPDX-License-Identifier: BSD-2-Clause
/* Tests how configuration is taken apart. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/ini.h"

static void keys_belong_to_the_section_above_them(void **state)
{
	char text[] = "# first\nlisten = 127.0.0.1:1\n\n[alert high load]\r\n"
		      "when= a > 1 # why\n\turl =http://x/#part\n[push]\nempty =";
	static const struct {
		const char *kind, *name, *key, *value;
		unsigned int line;
	} expected[] = {
		{"", "", "listen", "127.0.0.1:1", 2},
		{"alert", "high load", NULL, NULL, 4},
		{"alert", "high load", "when", "a > 1", 5},
		{"alert", "high load", "url", "http://x/#part", 6},
		{"push", "", NULL, NULL, 7},
		{"push", "", "empty", "", 8},
	};
	struct error error;
	struct ini ini;

	assert_int_equal(ini_parse(text, &ini, &error), 0);
	assert_int_equal(ini.entries.count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < ini.entries.count; i++) {
		const struct ini_entry *entry = &ini.entries.items[i];

		assert_string_equal(entry->kind, expected[i].kind);
		assert_string_equal(entry->name, expected[i].name);
		assert_int_equal(entry->line, expected[i].line);
		if (!expected[i].key) {
			assert_null(entry->key);
			continue;
		}
		assert_string_equal(entry->key, expected[i].key);
		assert_string_equal(entry->value, expected[i].value);
	}
	ini_done(&ini);
}

static void a_line_that_is_neither_is_refused_with_its_number(void **state)
{
	static const char *const texts[] = {"a = 1\nb", "\n[alert", "a = 1\n= 2", "x = 1\n[]",
					    "\n[ ]"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char text[32];
		struct error error;
		struct ini ini;

		strcpy(text, texts[i]);
		assert_int_equal(ini_parse(text, &ini, &error), -EINVAL);
		assert_int_equal(strncmp(error.text, "line 2: ", 8), 0);
		ini_done(&ini);
	}
}

static void nothing_is_a_configuration(void **state)
{
	char text[] = "";
	struct error error;
	struct ini ini;

	assert_int_equal(ini_parse(text, &ini, &error), 0);
	assert_int_equal(ini.entries.count, 0);
	ini_done(&ini);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_belong_to_the_section_above_them),
		cmocka_unit_test(a_line_that_is_neither_is_refused_with_its_number),
		cmocka_unit_test(nothing_is_a_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
