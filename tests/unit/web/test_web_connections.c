// SPDX-License-Identifier: BSD-2-Clause
/* Tests which connections are too slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "web/web_connections.h"

static struct web_connections connections;
static int ends[2];

static int setup(void **state)
{
	web_connections_init(&connections);
	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

static int teardown(void **state)
{
	close(ends[0]);
	close(ends[1]);
	web_connections_done(&connections);
	return 0;
}

static bool is_open(void)
{
	return send(ends[0], "", 1, MSG_NOSIGNAL) == 1;
}

static void one_that_asks_for_long_is_ended(void **state)
{
	uint64_t now_ns = clock_now_ns();

	assert_non_null(web_connection_add(&connections, ends[0]));
	assert_int_equal(web_connections_end_slow(&connections, now_ns + 9 * NS_PER_SECOND), 0);
	assert_true(is_open());
	assert_int_equal(web_connections_end_slow(&connections, now_ns + 11 * NS_PER_SECOND), 1);
	assert_false(is_open());
}

static void one_that_waits_for_us_may_wait(void **state)
{
	struct web_connection *connection = web_connection_add(&connections, ends[0]);
	uint64_t now_ns = clock_now_ns();

	web_connection_enter(&connections, connection, WEB_CONNECTION_WAITS);
	assert_int_equal(web_connections_end_slow(&connections, now_ns + 600 * NS_PER_SECOND), 0);
	web_connection_enter(&connections, connection, WEB_CONNECTION_RECEIVES);
	assert_int_equal(web_connections_end_slow(&connections, now_ns + 50 * NS_PER_SECOND), 0);
	assert_int_equal(web_connections_end_slow(&connections, now_ns + 70 * NS_PER_SECOND), 1);
}

static void one_that_is_closed_is_nobody_s(void **state)
{
	struct web_connection *connection = web_connection_add(&connections, ends[0]);

	web_connection_forget(&connections, connection);
	assert_int_equal(
		web_connections_end_slow(&connections, clock_now_ns() + 100 * NS_PER_SECOND), 0);
	assert_true(is_open());
}

static void too_many_are_not_watched(void **state)
{
	for (int i = 0; i < WEB_CONNECTIONS_MAX; i++)
		assert_non_null(web_connection_add(&connections, ends[0]));
	assert_null(web_connection_add(&connections, ends[0]));
	web_connection_enter(&connections, NULL, WEB_CONNECTION_WAITS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(one_that_asks_for_long_is_ended),
		TEST(one_that_waits_for_us_may_wait),
		TEST(one_that_is_closed_is_nobody_s),
		TEST(too_many_are_not_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
