// SPDX-License-Identifier: BSD-2-Clause
/* Tests addresses of servers, and answers that come in pieces of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "http/http_message.h"

static void addresses_have_their_parts(void **state)
{
	static const struct {
		const char *text, *host, *port, *authority, *target;
		bool is_https;
	} table[] = {
		{"http://host", "host", "80", "host", "", false},
		{"https://host/v1/x?y=1", "host", "443", "host", "/v1/x?y=1", true},
		{"http://10.0.0.7:4318/", "10.0.0.7", "4318", "10.0.0.7:4318", "/", false},
		{"https://[fe80::1]:65535/a", "fe80::1", "65535", "[fe80::1]:65535", "/a", true},
		{"http://[::1]", "::1", "80", "[::1]", "", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct http_url url;

		assert_int_equal(http_url_parse(table[i].text, &url), 0);
		assert_string_equal(url.host, table[i].host);
		assert_string_equal(url.port, table[i].port);
		assert_string_equal(url.authority, table[i].authority);
		assert_string_equal(url.target, table[i].target);
		assert_int_equal(url.is_https, table[i].is_https);
	}
}

static void what_is_no_address_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"host",
		"ftp://host",
		"http://",
		"http:///path",
		"http://:80",
		"http://a:/",
		"http://a:0/",
		"http://a:65536",
		"http://a:1234567",
		"http://a:12x",
		"http://user@host",
		"http://[::1/",
		"http://[]/",
		"http://[::1]x/",
		"http://a b/",
		"http://a/b c",
		"http://a/b\r\nX: y",
		"http://a/#fragment",
		"http://a?x=1",
	};
	char longer[600] = "http://";
	struct http_url url;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(http_url_parse(texts[i], &url), -EINVAL);
	memset(longer + 7, 'a', 256);
	assert_int_equal(http_url_parse(longer, &url), -EINVAL);
	longer[7 + 255] = '\0';
	assert_int_equal(http_url_parse(longer, &url), 0);
}

/* ---- answers ---- */

static char body[256];
static size_t most;

static bool take(void *context, const uint8_t *bytes, size_t size)
{
	size_t *used = context;

	if (*used + size > most)
		return false;
	memcpy(body + *used, bytes, size);
	*used += size;
	body[*used] = '\0';
	return true;
}

static int read_in_pieces(const char *text, size_t piece, struct http_message *message)
{
	static size_t used;
	size_t size = strlen(text);
	int result = 0;

	used = 0;
	body[0] = '\0';
	http_message_init(message, take, &used);
	for (size_t at = 0; at < size && result == 0; at += piece)
		result = http_message_feed(message, (const uint8_t *)text + at,
					   size - at < piece ? size - at : piece);
	return result ? result : http_message_end(message);
}

static void answers_are_the_same_in_pieces_of_any_size(void **state)
{
	static const struct {
		const char *text, *body;
		unsigned int status, retry_after;
		int result;
	} table[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", 200, 0, 1},
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", "hello", 200, 0, 1},
		{"HTTP/1.1 200\r\ncontent-length:0\r\n\r\n", "", 200, 0, 1},
		{"HTTP/1.0 404 Not Found\n\nno such page", "no such page", 404, 0, 0},
		{"HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", "", 204, 0, 1},
		{"HTTP/1.1 503 Busy\r\nRetry-After: 120\r\nContent-Length: 1\r\n\r\nx", "x", 503,
		 120, 1},
		{"HTTP/1.1 429 Busy\r\nRetry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n\r\n", "", 429,
		 0, 0},
		{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Made\r\nContent-Length: 2\r\n\r\nok",
		 "ok", 201, 0, 1},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		 "4;a=b\r\nwiki\r\n5\r\npedia\r\n0\r\nTrailer: x\r\n\r\n",
		 "wikipedia", 200, 0, 1},
		/* cut off */
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "hell", 200, 0, -EPIPE},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwiki\r\n", "wiki", 200,
		 0, -EPIPE},
		{"HTTP/1.1 200 OK\r\nContent-Le", "", 200, 0, -EPIPE},
		/* no HTTP */
		{"SSH-2.0-OpenSSH_9.2\r\n", "", 0, 0, -EBADMSG},
		{"HTTP/1.1 20x OK\r\n", "", 0, 0, -EBADMSG},
		{"HTTP/1.1 2000 OK\r\n", "", 0, 0, -EBADMSG},
		{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n", "", 200, 0, -EBADMSG},
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n", "", 200, 0,
		 -EBADMSG},
		{"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n", "", 200, 0,
		 -EBADMSG},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n", "", 200, 0, -EBADMSG},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "", 200, 0,
		 -EBADMSG},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "a", 200, 0,
		 -EBADMSG},
	};
	static struct http_message message;

	(void)state;
	most = sizeof(body) - 1;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		for (size_t piece = 1; piece < 40; piece++) {
			assert_int_equal(read_in_pieces(table[i].text, piece, &message),
					 table[i].result);
			assert_string_equal(body, table[i].body);
			assert_int_equal(message.status, table[i].status);
			assert_int_equal(message.retry_after_seconds, table[i].retry_after);
		}
	}
}

static void a_body_that_is_not_wanted_ends_the_reading(void **state)
{
	static struct http_message message;

	(void)state;
	most = 3;
	assert_int_equal(read_in_pieces("HTTP/1.1 200 OK\r\n\r\nabcdef", 2, &message), -ECANCELED);
	assert_int_equal(message.status, 200);
}

static void lines_and_headers_without_end_are_refused(void **state)
{
	static struct http_message message;
	static char line[HTTP_LINE_MAX + 64] = "HTTP/1.1 200 OK\r\nX: ";
	size_t used = 0;
	int result = 0, lines = 0;

	(void)state;
	memset(line + strlen(line), 'a', HTTP_LINE_MAX);
	assert_int_equal(read_in_pieces(line, 1000, &message), -EBADMSG);
	http_message_init(&message, take, &used);
	assert_int_equal(http_message_feed(&message, (const uint8_t *)"HTTP/1.1 200 OK\r\n", 17),
			 0);
	for (; lines < HTTP_HEADERS_MAX && result == 0; lines++)
		result = http_message_feed(&message, (const uint8_t *)"Header: of some length\r\n",
					   24);
	assert_int_equal(result, -EBADMSG);
	assert_in_range(lines, HTTP_HEADERS_MAX / 24 - 2, HTTP_HEADERS_MAX / 24 + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_have_their_parts),
		cmocka_unit_test(what_is_no_address_is_refused),
		cmocka_unit_test(answers_are_the_same_in_pieces_of_any_size),
		cmocka_unit_test(a_body_that_is_not_wanted_ends_the_reading),
		cmocka_unit_test(lines_and_headers_without_end_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
