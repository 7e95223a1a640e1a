// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/array.h"
#include "base/json_tree.h"

static struct json_tree *parse(const char *text)
{
	struct json_tree *tree;
	struct error error;

	if (json_tree_parse(text, strlen(text), &tree, &error) < 0)
		return NULL;
	return tree;
}

static void reads_every_kind_of_value(void **state)
{
	struct json_tree *tree =
		parse(" {\"a\": [1, -2.5e3, true, false, null], \"b\": {\"c\": \"x\"}, "
		      "\"d\": {}, \"e\": []} ");
	const struct json_value *root = json_tree_root(tree), *item;
	double number;

	assert_int_equal(json_kind_of(root), JSON_OBJECT);
	item = json_first(json_find(root, "a"));
	assert_true(json_number(item, &number) && number == 1);
	item = json_next(item);
	assert_true(json_number(item, &number) && number == -2500);
	item = json_next(item);
	assert_true(json_is_true(item));
	item = json_next(item);
	assert_int_equal(json_kind_of(item), JSON_FALSE);
	item = json_next(item);
	assert_int_equal(json_kind_of(item), JSON_NULL);
	assert_null(json_next(item));
	assert_string_equal(json_string(json_find(json_find(root, "b"), "c")), "x");
	assert_null(json_first(json_find(root, "d")));
	assert_null(json_first(json_find(root, "e")));
	assert_string_equal(json_key(json_find(root, "e")), "e");
	json_tree_free(tree);
}

static void what_is_missing_has_nothing(void **state)
{
	struct json_tree *tree = parse("[1]");
	const struct json_value *none = json_find(json_tree_root(tree), "a");
	double number;

	assert_null(none);
	assert_null(json_first(none));
	assert_null(json_string(none));
	assert_false(json_number(none, &number));
	assert_false(json_is_true(none));
	json_tree_free(tree);
}

static void resolves_escapes(void **state)
{
	static const struct {
		const char *text, *value;
	} table[] = {
		{"\"a\\n\\t\\\"\\\\\\/\"", "a\n\t\"\\/"},
		{"\"\\u00e4\"", "\xc3\xa4"},
		{"\"\\u20AC\"", "\xe2\x82\xac"},
		{"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80"},
		{"\"\\ud83d\"", "\xef\xbf\xbd"},
		{"\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
				       "A"},
		{"\"\\u0000\"", "?"},
		{"\"\xc3\xa4\"", "\xc3\xa4"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct json_tree *tree = parse(table[i].text);

		assert_non_null(tree);
		assert_string_equal(json_string(json_tree_root(tree)), table[i].value);
		json_tree_free(tree);
	}
}

static void refuses_what_is_no_json(void **state)
{
	static const char *const texts[] = {
		"",	      "  ",    "{",	  "[1,]",      "{\"a\"}",  "{\"a\":}",
		"{a:1}",      "[1 2]", "1 2",	  "nul",       "+1",	   "0x10",
		"1e",	      "\"a",   "\"\\x\"", "\"\\u12\"", "\"a\nb\"", "[1}",
		"{\"a\":1,}", "tru",   ".5",	  "NaN",       "inf",	   "-",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_null(parse(texts[i]));
}

static void says_where_it_is_wrong(void **state)
{
	struct json_tree *tree;
	struct error error;
	const char *text = "{\n\"a\": 1,\n\"b\" 2}";

	assert_true(json_tree_parse(text, strlen(text), &tree, &error) < 0);
	assert_string_equal(error.text, "expected a colon in line 3");
}

static void refuses_nesting_without_end(void **state)
{
	char text[2 * JSON_DEPTH_MAX + 1];
	struct json_tree *tree;

	memset(text, '[', JSON_DEPTH_MAX);
	memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	text[2 * JSON_DEPTH_MAX] = '\0';
	tree = parse(text);
	assert_non_null(tree);
	json_tree_free(tree);
	memset(text, '[', 2 * JSON_DEPTH_MAX);
	assert_null(parse(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_kind_of_value),
		cmocka_unit_test(what_is_missing_has_nothing),
		cmocka_unit_test(resolves_escapes),
		cmocka_unit_test(refuses_what_is_no_json),
		cmocka_unit_test(says_where_it_is_wrong),
		cmocka_unit_test(refuses_nesting_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
