// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/regions/usdt_pairs: pairs as people write them, and what a probe is in one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "source/regions/usdt_pairs.h"

typedef bool parse_fn(char *text, const char *region, struct usdt_pair *ret_pair);

static char text[128];

static bool parse(parse_fn *parser, const char *from, struct usdt_pair *ret_pair)
{
	snprintf(text, sizeof(text), "%s", from);
	return parser(text, "step", ret_pair);
}

static void pairs_of_probes_have_a_provider_and_two_names(void **state)
{
	struct usdt_pair pair;

	assert_true(parse(usdt_pair_parse, "mysql:query__start..query__done", &pair));
	assert_string_equal(pair.region, "step");
	assert_string_equal(pair.provider, "mysql");
	assert_string_equal(pair.begin, "query__start");
	assert_string_equal(pair.ends[0], "query__done");
	assert_null(pair.ends[1]);
	assert_int_equal(pair.id, USDT_THREAD);
	assert_false(pair.of_functions);
	assert_true(parse(usdt_pair_parse, "p:a..b@0", &pair));
	assert_string_equal(pair.ends[0], "b");
	assert_int_equal(pair.id, 0);
	assert_true(parse(usdt_pair_parse, "p:a..b@254", &pair));
	assert_int_equal(pair.id, 254);
}

static void python_has_regions_only_when_asked_for(void **state)
{
	const struct usdt_pair *pair;

	for (size_t i = 0; (pair = usdt_pair_at(i)); i++)
		assert_string_not_equal(pair->provider, "python");
}

static void pairs_of_functions_may_have_a_library_and_colons(void **state)
{
	struct usdt_pair pair;

	assert_true(parse(function_pair_parse, "begin..end", &pair));
	assert_true(pair.of_functions);
	assert_null(pair.provider);
	assert_string_equal(pair.begin, "begin");
	assert_string_equal(pair.ends[0], "end");
	assert_int_equal(pair.id, USDT_THREAD);
	assert_true(parse(function_pair_parse, "libx:begin..end@5", &pair));
	assert_string_equal(pair.provider, "libx");
	assert_string_equal(pair.begin, "begin");
	assert_string_equal(pair.ends[0], "end");
	assert_int_equal(pair.id, 5);
	assert_true(parse(function_pair_parse, "a::f..a::g", &pair));
	assert_null(pair.provider);
	assert_string_equal(pair.begin, "a::f");
	assert_true(parse(function_pair_parse, "libx:a::f..g", &pair));
	assert_string_equal(pair.provider, "libx");
	assert_string_equal(pair.begin, "a::f");
}

static void what_is_no_pair_is_refused(void **state)
{
	static const struct {
		parse_fn *parser;
		const char *text;
	} rows[] = {
		{usdt_pair_parse, ""},
		{usdt_pair_parse, "a..b"},
		{usdt_pair_parse, "p:a"},
		{usdt_pair_parse, "p:a.b"},
		{usdt_pair_parse, "p:..b"},
		{usdt_pair_parse, ":a..b"},
		{usdt_pair_parse, "p:a.."},
		{usdt_pair_parse, "p:a..@1"},
		{usdt_pair_parse, "p:a..b@"},
		{usdt_pair_parse, "p:a..b@x"},
		{usdt_pair_parse, "p:a..b@1x"},
		{usdt_pair_parse, "p:a..b@255"},
		{function_pair_parse, ""},
		{function_pair_parse, "a"},
		{function_pair_parse, "..b"},
		{function_pair_parse, "a.."},
		{function_pair_parse, ":a..b"},
		{function_pair_parse, "lib:..b"},
		{function_pair_parse, "a..@1"},
		{function_pair_parse, "a..b@"},
		{function_pair_parse, "a..b@6"},
		{function_pair_parse, "a..b@1x"},
		{function_pair_parse, "lib:a..b@y"},
	};
	struct usdt_pair pair;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (parse(rows[i].parser, rows[i].text, &pair))
			fail_msg("'%s' is taken for a pair", rows[i].text);
}

static void probes_begin_and_end_what_their_provider_means(void **state)
{
	static const struct usdt_pair of_two_ends = {
		.provider = "p", .begin = "a", .ends = {"b", "c"}};
	struct usdt_pair of_functions = of_two_ends;

	assert_int_equal(usdt_pair_role(&of_two_ends, "p", "a"), USDT_BEGIN);
	assert_int_equal(usdt_pair_role(&of_two_ends, "p", "b"), USDT_END);
	assert_int_equal(usdt_pair_role(&of_two_ends, "p", "c"), USDT_END);
	assert_int_equal(usdt_pair_role(&of_two_ends, "p", "d"), USDT_NONE);
	assert_int_equal(usdt_pair_role(&of_two_ends, "q", "a"), USDT_NONE);
	of_functions.of_functions = true;
	assert_int_equal(usdt_pair_role(&of_functions, "p", "a"), USDT_NONE);
}

/* Each is found by its probes, and by those of no other region of its provider. */
static void pairs_that_are_known_are_told_apart(void **state)
{
	const struct usdt_pair *pair, *other;
	size_t count = 0;

	for (; (pair = usdt_pair_at(count)); count++) {
		assert_int_equal(usdt_pair_role(pair, pair->provider, pair->begin), USDT_BEGIN);
		assert_int_equal(usdt_pair_role(pair, pair->provider, pair->ends[0]), USDT_END);
		assert_int_equal(pair->id, USDT_THREAD);
		for (size_t i = 0; i < count && (other = usdt_pair_at(i)); i++)
			assert_int_equal(usdt_pair_role(other, pair->provider, pair->begin),
					 USDT_NONE);
	}
	assert_true(count >= 16);
	assert_null(usdt_pair_at(count + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_of_probes_have_a_provider_and_two_names),
		cmocka_unit_test(python_has_regions_only_when_asked_for),
		cmocka_unit_test(pairs_of_functions_may_have_a_library_and_colons),
		cmocka_unit_test(what_is_no_pair_is_refused),
		cmocka_unit_test(probes_begin_and_end_what_their_provider_means),
		cmocka_unit_test(pairs_that_are_known_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
