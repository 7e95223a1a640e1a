// SPDX-License-Identifier: BSD-2-Clause
/* Tests where a server is asked: texts that name it, its token, and what its answers mean. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "cli/server_address.h"

static struct error error;

static void addresses_have_a_base(void **state)
{
	static const struct {
		const char *text, *base;
	} table[] = {
		{"127.0.0.1:7747", "http://127.0.0.1:7747"},
		{"http://127.0.0.1:7747", "http://127.0.0.1:7747"},
		{"http://[::1]:7747///", "http://[::1]:7747"},
		{"host", "http://host"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct server_address address;

		assert_int_equal(
			server_address_read(table[i].text, "--connect", NULL, &address, &error), 0);
		assert_string_equal(address.base, table[i].base);
		assert_null(address.socket_path);
		assert_null(address.authorization);
		server_address_done(&address);
	}
}

static void a_path_is_a_socket(void **state)
{
	struct server_address address;

	assert_int_equal(server_address_read("/run/x", "--connect", NULL, &address, &error), 0);
	assert_string_equal(address.socket_path, "/run/x");
	assert_string_equal(address.base, "http://localhost");
	server_address_done(&address);
}

static void what_is_no_address_is_refused(void **state)
{
	static const char *const texts[] = {"",	   "host/path", "http://", "http:///",
					    "a b", "a\"b",	"host:1/2"};
	char text[2 * SERVER_BASE_SIZE];
	struct server_address address;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(server_address_read(texts[i], "--connect", NULL, &address, &error),
				 -EINVAL);
		assert_non_null(strstr(error.text, "for --connect: expected ADDRESS:PORT"));
		server_address_done(&address);
	}
	/* The longest that fits, and one byte more. */
	memset(text, 'a', sizeof(text));
	text[SERVER_BASE_SIZE - 1 - strlen("http://")] = '\0';
	assert_int_equal(server_address_read(text, "--connect", NULL, &address, &error), 0);
	assert_int_equal(strlen(address.base), SERVER_BASE_SIZE - 1);
	server_address_done(&address);
	text[SERVER_BASE_SIZE - 1 - strlen("http://")] = 'a';
	text[SERVER_BASE_SIZE - strlen("http://")] = '\0';
	assert_int_equal(server_address_read(text, "--connect", NULL, &address, &error), -EINVAL);
}

static void a_token_becomes_a_header(void **state)
{
	char path[] = "/tmp/token-XXXXXX";
	int fd = mkstemp(path);
	struct server_address address;

	assert_return_code(fd, errno);
	assert_return_code(fchmod(fd, 0600), errno);
	assert_int_equal(write(fd, "0123456789abcdef0123\n", 21), 21);
	close(fd);
	assert_int_equal(server_address_read("host:1", "--connect", path, &address, &error), 0);
	assert_string_equal(address.authorization, "Authorization: Bearer 0123456789abcdef0123");
	server_address_done(&address);
	assert_null(address.authorization);
	unlink(path);
	assert_true(server_address_read("host:1", "--connect", path, &address, &error) < 0);
	server_address_done(&address);
}

static void answers_say_whether_to_ask_again(void **state)
{
	const struct server_address address = {.base = "http://host:1"};
	struct http_answer answer = {.status = 401, .text = "no"};

	assert_int_equal(server_address_explain(&address, &answer, &error), -EIO);
	assert_string_equal(error.text, "http://host:1 asks for its token: --token-file FILE");
	answer = (struct http_answer){.status = 503, .text = "busy\r\nsecond line"};
	assert_int_equal(server_address_explain(&address, &answer, &error), -EAGAIN);
	assert_string_equal(error.text, "http://host:1 answers with status 503: busy");
	/* Nothing of it reaches a terminal as it is. */
	answer = (struct http_answer){.status = 404, .text = "\x1b[31mred"};
	assert_int_equal(server_address_explain(&address, &answer, &error), -EIO);
	assert_null(strchr(error.text, '\x1b'));
	assert_non_null(strstr(error.text, "status 404"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_have_a_base),
		cmocka_unit_test(a_path_is_a_socket),
		cmocka_unit_test(what_is_no_address_is_refused),
		cmocka_unit_test(a_token_becomes_a_header),
		cmocka_unit_test(answers_say_whether_to_ask_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
