// SPDX-License-Identifier: BSD-2-Clause
/* Which addresses of a history are taken. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "cli/history_client.h"

static int open_client(const char *address, struct error *error)
{
	struct history_client *client = NULL;
	int err = history_client_new(address, NULL, &client, error);

	history_client_free(client);
	return err;
}

static void an_address_is_a_host_with_a_port_or_a_socket(void **state)
{
	static const char *const right[] = {"127.0.0.1:7747", "http://127.0.0.1:7747",
					    "http://[::1]:7747/", "/run/pkbpf/socket"};
	static const char *const wrong[] = {"http://127.0.0.1:7747/path", "127.0.0.1/7747"};
	struct error error = {0};

	for (size_t i = 0; i < ARRAY_SIZE(right); i++)
		assert_int_equal(open_client(right[i], &error), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(open_client(wrong[i], &error), -EINVAL);
		assert_non_null(strstr(error.text, "--connect"));
	}
}

static void addresses_longer_than_there_is_room_for_are_refused(void **state)
{
	struct error error = {0};
	char address[5000];

	memset(address, '/', sizeof(address));
	memcpy(address, "h", 1);
	for (size_t length = 240; length < sizeof(address); length += length < 260 ? 1 : 97) {
		address[length] = '\0';
		assert_int_equal(open_client(address, &error), length < 249 ? 0 : -EINVAL);
		address[length] = '/';
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_a_host_with_a_port_or_a_socket),
		cmocka_unit_test(addresses_longer_than_there_is_room_for_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
