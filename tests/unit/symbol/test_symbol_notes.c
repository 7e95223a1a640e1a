// SPDX-License-Identifier: BSD-2-Clause
/* Tests that notes are kept once, within bounds. */
#include "symbol/symbol_notes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void says_the_same_once(void **state)
{
	struct symbol_notes notes = {0};

	symbol_notes_add(&notes, "%s is missing", "a");
	symbol_notes_add(&notes, "%s is missing", "b");
	symbol_notes_add(&notes, "%s is missing", "a");
	assert_int_equal(notes.count, 2);
	assert_string_equal(notes.items[0], "a is missing");
	assert_string_equal(notes.items[1], "b is missing");
	symbol_notes_done(&notes);
	assert_int_equal(notes.count, 0);
}

static void counts_what_is_beyond_the_limit(void **state)
{
	struct symbol_notes notes = {0};

	for (int i = 0; i < SYMBOL_NOTES_MAX + 3; i++)
		symbol_notes_add(&notes, "note %d", i);
	assert_int_equal(notes.count, SYMBOL_NOTES_MAX);
	assert_int_equal(notes.left_out, 3);
	symbol_notes_done(&notes);
}

static void cuts_long_ones(void **state)
{
	struct symbol_notes notes = {0};
	char text[3 * SYMBOL_NOTE_MAX_BYTES];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	symbol_notes_add(&notes, "%s", text);
	assert_int_equal(strlen(notes.items[0]), SYMBOL_NOTE_MAX_BYTES - 1);
	symbol_notes_done(&notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_the_same_once),
		cmocka_unit_test(counts_what_is_beyond_the_limit),
		cmocka_unit_test(cuts_long_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
