// SPDX-License-Identifier: BSD-2-Clause
// Tests that columns align within 100 columns whatever is in them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "report/report.h"
#include "report/text_table.h"

struct width_row {
	const char *text;
	size_t columns;
};

static void width_is_counted_in_terminal_columns(void **state)
{
	static const struct width_row rows[] = {
		{"", 0},
		{"abc", 3},
		{"\xc3\xa9t\xc3\xa9", 3},
		{"\xe5\x90\x8d\xe5\x89\x8d", 4},
		{"e\xcc\x81", 1},
		{"\xf0\x9f\x98\x80", 2},
		/* Not clean: counted somehow, but never past its end. */
		{"\xe5", 1},
		{"\xf0\x9f", 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(text_columns(rows[i].text), rows[i].columns);
}

static void long_text_is_cut_at_a_character(void **state)
{
	char text[64];

	snprintf(text, sizeof(text), "abcdefghij");
	text_cut(text, 10);
	assert_string_equal(text, "abcdefghij");
	text_cut(text, 9);
	assert_string_equal(text, "abcdef...");
	text_cut(text, 3);
	assert_string_equal(text, "abc");
	snprintf(text, sizeof(text),
		 "\xe5\x90\x8d\xe5\x89\x8d\xe5\x90\x8d\xe5\x89\x8d\xe5\x90\x8d");
	text_cut(text, 8);
	assert_string_equal(text, "\xe5\x90\x8d\xe5\x89\x8d...");
	text_cut(text, 1);
	assert_string_equal(text, "");
}

/* Nothing of a text is ever wider than asked for, with and without room for dots. */
static void cutting_never_leaves_more_than_asked(void **state)
{
	static const char *const texts[] = {
		"abcdefghijklmnop",
		"\xe5\x90\x8d\xe5\x89\x8d\xe5\x90\x8d\xe5\x89\x8d",
		"a\xcc\x81\xcc\x81\xcc\x81",
		"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80",
		"ab\xe5\x90\x8d",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		for (size_t columns = 0; columns < 20; columns++) {
			char text[64];

			snprintf(text, sizeof(text), "%s", texts[i]);
			text_cut(text, columns);
			assert_true(text_columns(text) <= columns);
		}
}

static void columns_align_left_and_right(void **state)
{
	static const struct text_column columns[] = {
		{.title = "n"},
		{.title = "name", .left = true},
		{.title = "x"},
		{.title = "last", .left = true},
	};
	struct text_table *table = text_table_new(columns, ARRAY_SIZE(columns));
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	text_table_cellf(table, "%d", 1234);
	text_table_cell(table, "a\x1b[1m");
	text_table_cell(table, "7");
	text_table_cell(table, "");
	text_table_cell(table, "5");
	text_table_cell(table, "longer name");
	text_table_cell(table, "12");
	text_table_cell(table, "end");
	assert_int_equal(text_table_write(table, REPORT_WIDTH_DEFAULT, out), 0);
	fclose(out);
	assert_string_equal(text, "    n name         x last\n"
				  " 1234 a?[1m        7\n"
				  "    5 longer name 12 end\n");
	free(text);
	text_table_free(table);
}

static void a_wide_table_shrinks_where_it_may(void **state)
{
	static const struct text_column columns[] = {
		{.title = "a", .left = true, .max_columns = 20},
		{.title = "b", .left = true, .flexible = true},
		{.title = "c", .left = true, .flexible = true},
		{.title = "d"},
	};
	struct text_table *table = text_table_new(columns, ARRAY_SIZE(columns));
	char *text = NULL, *line, *save = NULL, name[400];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (size_t i = 0; i < 3; i++) {
		text_table_cell(table, name);
		text_table_cell(table, name);
		text_table_cell(table, name);
		text_table_cell(table, "123");
	}
	assert_int_equal(text_table_write(table, REPORT_WIDTH_DEFAULT, out), 0);
	fclose(out);
	line = strtok_r(text, "\n", &save);
	for (line = strtok_r(NULL, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		assert_int_equal(strlen(line), REPORT_WIDTH_DEFAULT);
		assert_string_equal(line + REPORT_WIDTH_DEFAULT - 4, " 123");
	}
	free(text);
	text_table_free(table);
}

static void text_wraps_at_spaces_below_its_label(void **state)
{
	char *text = NULL, *line, *save = NULL, words[600] = "";
	size_t size, lines = 0;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < 60; i++)
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "word%zu ", i);
	text_wrap(out, REPORT_WIDTH_DEFAULT, "label:", 10, words);
	fclose(out);
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save), lines++) {
		assert_true(strlen(line) <= REPORT_WIDTH_DEFAULT && strlen(line) > 0);
		assert_memory_equal(line, lines ? "          w" : "label:    w", 11);
	}
	assert_int_equal(lines, 5);
	free(text);
}

static void words_wider_than_a_line_are_broken(void **state)
{
	char *text = NULL, *line, *save = NULL, word[951];
	size_t size, letters = 0;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < 950; i += 3)
		memcpy(word + i, "\xe5\x90\x8d", i + 3 <= 950 ? 3 : 950 - i);
	word[948] = '\0';
	text_wrap(out, REPORT_WIDTH_DEFAULT, "label:", 9, word);
	fclose(out);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		assert_true(text_columns(line) <= REPORT_WIDTH_DEFAULT);
		for (char *c = line; *c; c++)
			letters += (unsigned char)*c == 0xe5;
	}
	assert_int_equal(letters, 316);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(width_is_counted_in_terminal_columns),
		cmocka_unit_test(long_text_is_cut_at_a_character),
		cmocka_unit_test(cutting_never_leaves_more_than_asked),
		cmocka_unit_test(columns_align_left_and_right),
		cmocka_unit_test(a_wide_table_shrinks_where_it_may),
		cmocka_unit_test(text_wraps_at_spaces_below_its_label),
		cmocka_unit_test(words_wider_than_a_line_are_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
