// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bench/command_words.h"

static void splits_as_a_shell_would(void **state)
{
	static const struct {
		const char *text;
		const char *words[5];
	} table[] = {
		{"sleep 1", {"sleep", "1"}},
		{"  sleep\t 1 ", {"sleep", "1"}},
		{"echo 'a  b' \"c d\"", {"echo", "a  b", "c d"}},
		{"echo a\\ b", {"echo", "a b"}},
		{"echo 'a\\b' \"a\\b\" \"a\\\"b\"", {"echo", "a\\b", "a\\b", "a\"b"}},
		{"echo ''", {"echo", ""}},
		{"echo a'b'\"c\"", {"echo", "abc"}},
		{"./run --x=1", {"./run", "--x=1"}},
		{"echo '$HOME;'", {"echo", "$HOME;"}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct error error;
		bool by_shell;
		char **words = command_words_split(table[i].text, &by_shell, &error);

		assert_non_null(words);
		assert_false(by_shell);
		for (size_t j = 0; j < 5; j++) {
			if (!table[i].words[j]) {
				assert_null(words[j]);
				break;
			}
			assert_string_equal(words[j], table[i].words[j]);
		}
		command_words_free(words);
	}
}

static void leaves_to_a_shell_what_only_a_shell_can(void **state)
{
	static const char *const texts[] = {"a | b",  "a; b",	    "a > b",	      "X=1 a",
					    "ls *.c", "echo $HOME", "echo \"$HOME\"", "echo `a`",
					    "(a)",    "a ~/b"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct error error;
		bool by_shell;
		char **words = command_words_split(texts[i], &by_shell, &error);

		assert_non_null(words);
		assert_true(by_shell);
		assert_string_equal(words[0], "sh");
		assert_string_equal(words[2], texts[i]);
		command_words_free(words);
	}
}

static void refuses_what_is_no_command(void **state)
{
	static const char *const texts[] = {"", "   ", "echo 'a", "echo \"a", "''"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct error error;
		bool by_shell;

		assert_null(command_words_split(texts[i], &by_shell, &error));
	}
}

static void joins_what_splits_into_the_same_words(void **state)
{
	const char *const words[] = {"a", "b c", "it's", "", "$x", "\\", NULL};
	struct error error;
	bool by_shell;
	char *text = command_words_join((char *const *)words);
	char **again = command_words_split(text, &by_shell, &error);

	(void)state;
	assert_non_null(again);
	assert_false(by_shell);
	for (size_t i = 0; words[i]; i++)
		assert_string_equal(again[i], words[i]);
	command_words_free(again);
	free(text);
}

static void replaces_each_place_of_a_parameter(void **state)
{
	static const struct word_parameter parameters[] = {{"n", "12"}, {"a", "{n}"}};
	char *text = command_words_fill("{n} {m} x{n}y {", parameters, 1);

	(void)state;
	assert_string_equal(text, "12 {m} x12y {");
	free(text);
	/* What a value looks like does not matter. */
	text = command_words_fill("{a} {n} {{n}}", parameters, 2);
	assert_string_equal(text, "{n} 12 {12}");
	free(text);
	assert_true(command_words_has("a {n}", "n"));
	assert_false(command_words_has("a {nn}", "n"));
	assert_false(command_words_has("a n", "n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits_as_a_shell_would),
		cmocka_unit_test(leaves_to_a_shell_what_only_a_shell_can),
		cmocka_unit_test(refuses_what_is_no_command),
		cmocka_unit_test(joins_what_splits_into_the_same_words),
		cmocka_unit_test(replaces_each_place_of_a_parameter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
