// SPDX-License-Identifier: BSD-2-Clause
/* What mistyped words are taken for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/near_match.h"

static const char *best(const char *typed)
{
	static const char *const words[] = {"pid",    "tid",	"frequency", "output",
					    "format", "doctor", "duration"};
	struct near_match near = {0};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		near_match_offer(&near, typed, words[i]);
	return near.word;
}

static void typing_errors_find_their_word(void **state)
{
	assert_string_equal(best("pdi"), "pid");	    /* swapped */
	assert_string_equal(best("frequncy"), "frequency"); /* missing */
	assert_string_equal(best("outpput"), "output");	    /* doubled */
	assert_string_equal(best("docter"), "doctor");	    /* wrong */
	assert_string_equal(best("dur"), "duration");	    /* cut short */
}

static void the_nearest_of_two_wins(void **state)
{
	assert_string_equal(best("tidd"), "tid");
	assert_string_equal(best("fromat"), "format");
}

static void other_words_find_nothing(void **state)
{
	char long_word[200];

	memset(long_word, 'a', sizeof(long_word));
	long_word[sizeof(long_word) - 1] = '\0';
	assert_null(best("banana"));
	assert_null(best(""));
	assert_null(best("x"));
	assert_null(best(long_word));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(typing_errors_find_their_word),
		cmocka_unit_test(the_nearest_of_two_wins),
		cmocka_unit_test(other_words_find_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
