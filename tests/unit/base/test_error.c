// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/error: the sentence of a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/error.h"

static void returns_negative_errno_with_sentence(void **state)
{
	struct error error;

	assert_int_equal(error_set(&error, ENOENT, "cannot open %s: %s", "x", "gone"), -ENOENT);
	assert_string_equal(error.text, "cannot open x: gone");
}

static void accepts_no_error_object(void **state)
{
	assert_int_equal(error_set(NULL, EPERM, "cannot %s", "x"), -EPERM);
}

static void replaces_text_that_was_set(void **state)
{
	struct error error;

	error_set(&error, EIO, "a long first sentence");
	error_set(&error, EIO, "second");
	assert_string_equal(error.text, "second");
}

static void wraps_its_own_text(void **state)
{
	struct error error;

	error_set(&error, EIO, "inner");
	error_set(&error, EIO, "outer: %s; again %s", error.text, error.text);
	assert_string_equal(error.text, "outer: inner; again inner");
}

static void keeps_longest_text_that_fits_whole(void **state)
{
	struct error error;
	char text[ERROR_TEXT_SIZE];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	error_set(&error, EIO, "%s", text);
	assert_string_equal(error.text, text);
}

static void marks_cut_of_too_long_text(void **state)
{
	struct error error;
	char text[ERROR_TEXT_SIZE + 1];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	error_set(&error, EIO, "%s", text);
	assert_int_equal(strlen(error.text), ERROR_TEXT_SIZE - 1);
	assert_string_equal(error.text + ERROR_TEXT_SIZE - 5, "x...");
}

static void cuts_between_characters(void **state)
{
	/* One of four shifts puts the cut inside the four-byte character each time but once. */
	for (size_t shift = 0; shift < 4; shift++) {
		struct error error;
		char text[2 * ERROR_TEXT_SIZE] = "abc";
		size_t end;

		text[shift] = '\0';
		while (strlen(text) < ERROR_TEXT_SIZE + 8)
			strcat(text, "\xf0\x9f\x94\xa5");
		error_set(&error, EIO, "%s", text);
		end = strlen(error.text) - 3;
		assert_string_equal(error.text + end, "...");
		assert_int_equal((end - shift) % 4, 0);
		assert_true(end + 3 > ERROR_TEXT_SIZE - 5);
	}
}

static void leaves_errno_alone(void **state)
{
	struct error error;

	errno = E2BIG;
	error_set(&error, EIO, "x %d", 1);
	assert_int_equal(errno, E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(returns_negative_errno_with_sentence),
		cmocka_unit_test(accepts_no_error_object),
		cmocka_unit_test(replaces_text_that_was_set),
		cmocka_unit_test(wraps_its_own_text),
		cmocka_unit_test(keeps_longest_text_that_fits_whole),
		cmocka_unit_test(marks_cut_of_too_long_text),
		cmocka_unit_test(cuts_between_characters),
		cmocka_unit_test(leaves_errno_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
