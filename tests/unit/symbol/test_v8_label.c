// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/jit/v8_label: how functions are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "symbol/jit/v8_label.h"

static void check(const char *name, const char *path, uint32_t line, const char *expected)
{
	char label[V8_LABEL_BYTES];

	v8_label_write(label, name, path, line);
	assert_string_equal(label, expected);
}

static void test_labels(void **state)
{
	(void)state;
	check("render", "/srv/app/view.js", 12, "render (view.js:12)");
	check("render", "file:///srv/app/view.mjs", 12, "render (view.mjs:12)");
	check("Module._load", "node:internal/modules/cjs/loader", 3,
	      "Module._load (node:internal/modules/cjs/loader:3)");
	check("", "/srv/app/view.js", 1, "(anonymous) (view.js:1)");
	check("late", "view.js", 0, "late (view.js)");
	check("made", "", 5, "made");
	check("odd", "/srv/", 5, "odd (/srv/:5)");
}

static void test_long(void **state)
{
	char name[600], path[600], label[V8_LABEL_BYTES];

	(void)state;
	memset(name, 'n', sizeof(name));
	memset(path, 'p', sizeof(path));
	name[sizeof(name) - 1] = path[sizeof(path) - 1] = '\0';
	v8_label_write(label, name, path, UINT32_MAX);
	assert_int_equal(strlen(label), 255 + 230 + strlen(" (:4294967295)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
