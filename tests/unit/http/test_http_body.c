// SPDX-License-Identifier: BSD-2-Clause
/* Tests what is kept of bodies that come in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http/http_body.h"

#define PIECE 1000

static void a_beginning_ends_where_its_text_is_full(void **state)
{
	struct http_answer answer = {0};
	struct http_beginning beginning = {.answer = &answer};
	uint8_t piece[PIECE];
	size_t pieces = 0;

	(void)state;
	memset(piece, 'a', sizeof(piece));
	assert_true(http_beginning_take(&beginning, piece, 10));
	assert_string_equal(answer.text, "aaaaaaaaaa");
	while (http_beginning_take(&beginning, piece, sizeof(piece)))
		pieces++;
	assert_int_equal(strlen(answer.text), HTTP_ANSWER_SIZE - 1);
	assert_int_equal(pieces, 65);
}

static void a_body_is_collected_up_to_its_limit(void **state)
{
	struct http_body body = {.most = 200 * PIECE};
	struct http_collected collected;
	struct http_answer answer = {0};
	struct error error = {0};
	uint8_t piece[PIECE];

	(void)state;
	http_collected_begin(&collected, &body);
	for (int i = 0; i < 200; i++) {
		memset(piece, 'a' + i % 26, sizeof(piece));
		assert_true(http_collected_take(&collected, piece, sizeof(piece)));
	}
	assert_int_equal(body.size, 200 * PIECE);
	assert_int_equal(body.bytes[27 * PIECE], 'b');
	assert_false(http_collected_take(&collected, piece, 1));
	assert_int_equal(http_collected_end(&collected, &answer, 0, &error), -EFBIG);
	assert_string_equal(error.text, "the answer is longer than 200000 bytes");
	assert_null(body.bytes);
	assert_int_equal(strlen(answer.text), HTTP_ANSWER_SIZE - 1);
}

static void a_short_body_is_kept_and_a_failure_frees_it(void **state)
{
	struct http_body body = {.most = 10};
	struct http_collected collected;
	struct http_answer answer = {0};
	struct error error = {0};

	(void)state;
	for (int err = 0; err >= -EIO; err -= EIO) {
		http_collected_begin(&collected, &body);
		assert_true(http_collected_take(&collected, (const uint8_t *)"0123456789", 10));
		assert_int_equal(http_collected_end(&collected, &answer, err, &error), err);
		assert_string_equal(answer.text, "0123456789");
		assert_true(!body.bytes == (err != 0));
		free(body.bytes);
	}
	http_collected_begin(&collected, &body);
	assert_int_equal(http_collected_end(&collected, &answer, 0, &error), 0);
	assert_int_equal(body.size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_beginning_ends_where_its_text_is_full),
		cmocka_unit_test(a_body_is_collected_up_to_its_limit),
		cmocka_unit_test(a_short_body_is_kept_and_a_failure_frees_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
