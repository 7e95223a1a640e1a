// SPDX-License-Identifier: BSD-2-Clause
/* Tests that an answer keeps its bound, page by page, and that no row is lost between pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/mcp_answer.h"

#define MOST ((size_t)3000)

static size_t count_lines(const char *text, const char *beginning)
{
	size_t count = 0;

	for (; (text = strstr(text, beginning)); text++)
		count++;
	return count;
}

static void pages_join_without_gap(void **state)
{
	size_t offset = 0, pages = 0, seen = 0;

	(void)state;
	do {
		struct mcp_answer answer;

		mcp_answer_begin(&answer, MOST, offset);
		mcp_answer_head(&answer, "head");
		for (int i = 0; i < 500; i++)
			mcp_answer_row(&answer, "row %d of some length or other", i);
		assert_true(mcp_answer_end_rows(&answer));
		assert_true(answer.size <= MOST);
		assert_int_equal(strlen(answer.text), answer.size);
		assert_ptr_equal(strstr(answer.text, "head\n"), answer.text);
		if (answer.shown) {
			char first[32];

			snprintf(first, sizeof(first), "row %zu of", offset);
			assert_non_null(strstr(answer.text, first));
		}
		assert_int_equal(count_lines(answer.text, "row "), answer.shown);
		seen += answer.shown;
		offset += answer.shown;
		pages++;
		assert_int_equal(strstr(answer.text, "more: ") != NULL, offset < 500);
		assert_true(answer.shown > 0);
		mcp_answer_done(&answer);
	} while (offset < 500);
	assert_int_equal(seen, 500);
	assert_true(pages > 2);
}

static void an_offset_behind_the_end_says_so(void **state)
{
	struct mcp_answer answer;

	(void)state;
	mcp_answer_begin(&answer, MOST, 7);
	mcp_answer_row(&answer, "one");
	mcp_answer_end_rows(&answer);
	assert_string_equal(answer.text, "no row at offset 7: there are 1\n");
	mcp_answer_done(&answer);
}

static void names_cannot_break_lines(void **state)
{
	struct mcp_answer answer;
	char line[4000];

	(void)state;
	mcp_answer_begin(&answer, MOST, 0);
	mcp_answer_row(&answer, "a\nb\x1b[31m %s", "\xff");
	assert_int_equal(count_lines(answer.text, "\n"), 1);
	assert_null(strchr(answer.text, 0x1b));
	/* A long name is cut at a character, and says so. */
	memset(line, 0, sizeof(line));
	for (size_t i = 0; i + 2 < sizeof(line); i += 2)
		memcpy(line + i, "\xc3\xa4", 2);
	mcp_answer_row(&answer, "%s", line);
	assert_true(answer.size < (size_t)MCP_ANSWER_LINE + 30);
	assert_string_equal(answer.text + answer.size - 6, "\xc3\xa4...\n");
	mcp_answer_done(&answer);
}

static void notes_have_room_when_rows_have_none(void **state)
{
	struct mcp_answer answer;

	(void)state;
	mcp_answer_begin(&answer, MOST, 0);
	while (mcp_answer_row(&answer, "a row"))
		;
	mcp_answer_end_rows(&answer);
	mcp_answer_note(&answer, "not seen: 3");
	assert_non_null(strstr(answer.text, "more: 1 rows; ask again with offset="));
	assert_non_null(strstr(answer.text, "\nnot seen: 3\n"));
	mcp_answer_done(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_join_without_gap),
		cmocka_unit_test(an_offset_behind_the_end_says_so),
		cmocka_unit_test(names_cannot_break_lines),
		cmocka_unit_test(notes_have_room_when_rows_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
