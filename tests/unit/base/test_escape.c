// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/escape: names that try to harm a terminal, a spreadsheet, JSON or markup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/escape.h"

#define U_FFFD "\xef\xbf\xbd"

struct escape_case {
	const char *text, *expected;
};

static void check_stream(void (*escape)(FILE *, const char *), const struct escape_case *cases,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *exact = strdup(cases[i].text), *got = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&got, &size);

		/* A heap copy of exact size: AddressSanitizer sees a read past the NUL. */
		escape(out, exact);
		fclose(out);
		assert_string_equal(got, cases[i].expected);
		free(got);
		free(exact);
	}
}

static void terminal_text_is_harmless(void **state)
{
	static const struct escape_case cases[] = {
		{"", ""},
		{"plain text", "plain text"},
		{"\x1b[31mred", "?[31mred"},
		{"a\tb\nc\rd\x7f", "a?b?c?d?"},
		{"\xc2\x9b[m", "?[m"}, /* C1 control sequence introducer */
		{"\xc2\x80\xc2\x9f\xc2\xa0", "??\xc2\xa0"},
		{"\xe2\x80\xaeno", "?no"},	    /* U+202E right-to-left override */
		{"\xe2\x81\xa6\xe2\x81\xa9", "??"}, /* U+2066, U+2069 isolates */
		{"a\xe2\x80\x8bz", "a?z"},	    /* U+200B zero-width space */
		{"\xef\xbb\xbfx", "?x"},	    /* U+FEFF */
		{"\xf3\xa0\x81\x81", "?"},	    /* U+E0041 tag letter */
		{"h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x94\xa5",
		 "h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x94\xa5"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char got[256];

		assert_ptr_equal(escape_terminal(got, sizeof(got), cases[i].text), got);
		assert_string_equal(got, cases[i].expected);
	}
}

/* One mark per longest piece of a well-formed sequence. */
static const struct escape_case invalid_utf8[] = {
	{"\x80", "?"}, /* continuation alone */
	{"\xbf\xbf", "??"},
	{"\xc0\xaf", "??"}, /* '/' in two bytes */
	{"\xc1\xbf", "??"},
	{"\xe0\x80\xaf", "???"}, /* '/' in three */
	{"\xe0\x9f\xbf", "???"},
	{"\xe0\xa0\x80", "\xe0\xa0\x80"}, /* U+0800, the first of three */
	{"\xed\x9f\xbf", "\xed\x9f\xbf"}, /* U+D7FF */
	{"\xed\xa0\x80", "???"},	  /* first surrogate */
	{"\xed\xbf\xbf", "???"},	  /* last surrogate */
	{"\xee\x80\x80", "\xee\x80\x80"}, /* U+E000 */
	{"\xf0\x80\x80\xaf", "????"},
	{"\xf0\x8f\xbf\xbf", "????"},
	{"\xf0\x90\x80\x80", "\xf0\x90\x80\x80"}, /* U+10000 */
	{"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"}, /* U+10FFFF */
	{"\xf4\x90\x80\x80", "????"},
	{"\xf5\x80\x80\x80", "????"},
	{"\xfe\xff", "??"},
	{"\xc3", "?"}, /* cut by the end */
	{"\xe2\x82", "?"},
	{"\xf0\x9f\x94", "?"},
	{"\xf0\x9f\x94x", "?x"},
	{"\xe2\x82(", "?("},
	{"\xc3\xc3\xa9", "?\xc3\xa9"},
};

static void invalid_utf8_is_marked_on_a_terminal(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(invalid_utf8); i++) {
		char got[64], *exact = strdup(invalid_utf8[i].text);

		escape_terminal(got, sizeof(got), exact);
		assert_string_equal(got, invalid_utf8[i].expected);
		free(exact);
	}
}

static void invalid_utf8_becomes_the_replacement_character_elsewhere(void **state)
{
	static void (*const escapes[])(FILE *, const char *) = {escape_csv, escape_markup,
								escape_json};

	for (size_t e = 0; e < ARRAY_SIZE(escapes); e++) {
		for (size_t i = 0; i < ARRAY_SIZE(invalid_utf8); i++) {
			char expected[128] = "";
			const char *quote = escapes[e] == escape_json ? "\"" : "";
			struct escape_case one = {invalid_utf8[i].text, expected};

			strcat(expected, quote);
			for (const char *at = invalid_utf8[i].expected; *at; at++) {
				if (*at == '?')
					strcat(expected, U_FFFD);
				else
					strncat(expected, at, 1);
			}
			strcat(expected, quote);
			check_stream(escapes[e], &one, 1);
		}
	}
}

static void terminal_text_is_cut_between_characters(void **state)
{
	static const char *const by_size[] = {NULL,
					      "",
					      "a",
					      "a",
					      "a\xc3\xa9",
					      "a\xc3\xa9",
					      "a\xc3\xa9",
					      "a\xc3\xa9\xe2\x82\xac",
					      "a\xc3\xa9\xe2\x82\xac?",
					      "a\xc3\xa9\xe2\x82\xac?",
					      "a\xc3\xa9\xe2\x82\xac?"};

	for (size_t size = 1; size < ARRAY_SIZE(by_size); size++) {
		char *got = malloc(size);

		escape_terminal(got, size, "a\xc3\xa9\xe2\x82\xac\x1b");
		assert_string_equal(got, by_size[size]);
		free(got);
	}
}

static void terminal_buffer_of_size_0_is_left_alone(void **state)
{
	char got = 'x';

	assert_ptr_equal(escape_terminal(&got, 0, "text"), &got);
	assert_int_equal(got, 'x');
}

static void json_strings_are_escaped(void **state)
{
	static const struct escape_case cases[] = {
		{"", "\"\""},
		{"a \"b\" \\c/", "\"a \\\"b\\\" \\\\c/\""},
		{"</script><!--", "\"\\u003c/script>\\u003c!--\""},
		{"\x01\n\t\r\x1f\x7f", "\"\\u0001\\n\\t\\u000d\\u001f\\u007f\""},
		{"\xc2\x85", "\"\\u0085\""},
		{"\xe2\x80\xa8\xe2\x80\xae", "\"\\u2028\\u202e\""},
		{"\xf3\xa0\x81\x81", "\"\\udb40\\udc41\""},
		{"\xf0\x9f\x94\xa5", "\"\xf0\x9f\x94\xa5\""},
	};

	check_stream(escape_json, cases, ARRAY_SIZE(cases));
}

static void csv_cells_are_quoted_and_defused(void **state)
{
	static const struct escape_case cases[] = {
		{"", ""},
		{"plain", "plain"},
		{"a,b", "\"a,b\""},
		{"say \"hi\"", "\"say \"\"hi\"\"\""},
		{"two\nlines", "\"two\nlines\""},
		{"=1+1", "'=1+1"},
		{"+1", "'+1"},
		{"-1", "'-1"},
		{"@SUM(A1)", "'@SUM(A1)"},
		{"\tx", "'\tx"},
		{"\rx", "\"'\rx\""},
		{"=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""},
		{"a=b", "a=b"},
		{"\x1b[0m", "?[0m"},
		{"\xc2\x9b[m", "?[m"},
		{"a\xe2\x80\xae"
		 "b",
		 "a?b"}, /* turns the direction of what follows */
	};

	check_stream(escape_csv, cases, ARRAY_SIZE(cases));
}

static void markup_is_escaped(void **state)
{
	static const struct escape_case cases[] = {
		{"", ""},
		{"std::vector<int>::at(int&&)", "std::vector&lt;int&gt;::at(int&amp;&amp;)"},
		{"\" onload='x'", "&quot; onload=&#39;x&#39;"},
		{"&lt;", "&amp;lt;"},
		{"a\tb\nc\x1b\x7f", "a?b?c??"},
		{"\xe2\x80\xae", "?"},
		{"\xef\xbf\xbe\xef\xbf\xbf",
		 U_FFFD U_FFFD}, /* U+FFFE and U+FFFF: no XML characters */
		{"\xe2\x82\xac", "\xe2\x82\xac"},
	};

	check_stream(escape_markup, cases, ARRAY_SIZE(cases));
}

static void text_of_markdown_means_nothing(void **state)
{
	static const struct escape_case cases[] = {
		{"__init__ of *p", "\\_\\_init\\_\\_ of \\*p"},
		{"![x](//a.b/c)", "\\!\\[x\\](//a.b/c)"},
		{"a|b `c` ~d~ #1 \\", "a\\|b \\`c\\` \\~d\\~ \\#1 \\\\"},
		{"<b>\n\xff", "&lt;b&gt;?" U_FFFD},
		{"3.5 ms, 12 %", "3.5 ms, 12 %"},
	};

	check_stream(escape_markdown, cases, ARRAY_SIZE(cases));
}

static void code_of_markdown_cannot_be_left(void **state)
{
	static const struct escape_case cases[] = {
		{"", "``"},
		{"a|b", "`a\\|b`"},
		{"`rm`\n# b", "`'rm'?# b`"},
	};

	check_stream(escape_markdown_code, cases, ARRAY_SIZE(cases));
}

static void write_base64(FILE *out, const char *text)
{
	escape_base64(out, text, strlen(text));
}

/* The test vectors of RFC 4648, section 10. */
static void bytes_are_padded_base64(void **state)
{
	static const struct escape_case cases[] = {
		{"", ""},	 {"f", "Zg=="},		 {"fo", "Zm8="},
		{"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}, {"\xff\xfe\xfb", "//77"},
	};

	check_stream(write_base64, cases, ARRAY_SIZE(cases));
}

static void uris_have_plain_characters_alone(void **state)
{
	char uri[16] = "x=";

	assert_true(escape_uri(uri, sizeof(uri), "a /b\xc3", ""));
	assert_string_equal(uri, "x=a%20%2Fb%C3");
}

static void a_uri_that_does_not_fit_says_so(void **state)
{
	char uri[6] = "";

	assert_false(escape_uri(uri, sizeof(uri), "abc d", ""));
	assert_string_equal(uri, "abc");
	uri[0] = '\0';
	assert_true(escape_uri(uri, sizeof(uri), "/~-ab", "/"));
	assert_string_equal(uri, "/~-ab");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terminal_text_is_harmless),
		cmocka_unit_test(invalid_utf8_is_marked_on_a_terminal),
		cmocka_unit_test(invalid_utf8_becomes_the_replacement_character_elsewhere),
		cmocka_unit_test(terminal_text_is_cut_between_characters),
		cmocka_unit_test(terminal_buffer_of_size_0_is_left_alone),
		cmocka_unit_test(json_strings_are_escaped),
		cmocka_unit_test(csv_cells_are_quoted_and_defused),
		cmocka_unit_test(markup_is_escaped),
		cmocka_unit_test(text_of_markdown_means_nothing),
		cmocka_unit_test(code_of_markdown_cannot_be_left),
		cmocka_unit_test(bytes_are_padded_base64),
		cmocka_unit_test(uris_have_plain_characters_alone),
		cmocka_unit_test(a_uri_that_does_not_fit_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
