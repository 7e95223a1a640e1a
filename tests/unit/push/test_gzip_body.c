// SPDX-License-Identifier: BSD-2-Clause
/* What is packed is a gzip file of the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "push/gzip_body.h"

static void unpacks_to_the_same(void **state)
{
	static char text[100000], again[sizeof(text)];
	z_stream stream = {.next_out = (Bytef *)again, .avail_out = sizeof(again)};
	char *body = NULL;
	size_t size = 0;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i * i % 23);
	assert_int_equal(gzip_body(text, sizeof(text), &body, &size), 0);
	assert_true(size < sizeof(text) / 2);
	/* 16: a gzip header, and nothing else */
	assert_int_equal(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
	stream.next_in = (Bytef *)body;
	stream.avail_in = (uInt)size;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	assert_int_equal(stream.total_out, sizeof(text));
	assert_memory_equal(text, again, sizeof(text));
	inflateEnd(&stream);
	free(body);
	assert_int_equal(gzip_body("", 0, &body, &size), 0);
	assert_true(size > 0);
	free(body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unpacks_to_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
