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
static const struct web_address somebody = {{1}}, others = {{2}};

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

	assert_non_null(web_connection_add(&connections, ends[0], &somebody));
	assert_int_equal(web_connections_end_slow(&connections, now_ns + 9 * NS_PER_SECOND), 0);
	assert_true(is_open());
	assert_int_equal(web_connections_end_slow(&connections, now_ns + 11 * NS_PER_SECOND), 1);
	assert_false(is_open());
}

static void one_that_waits_for_us_may_wait(void **state)
{
	struct web_connection *connection = web_connection_add(&connections, ends[0], &somebody);
	uint64_t now_ns = clock_now_ns();

	web_connection_enter(&connections, connection, WEB_CONNECTION_WAITS);
	assert_int_equal(web_connections_end_slow(&connections, now_ns + 600 * NS_PER_SECOND), 0);
	web_connection_enter(&connections, connection, WEB_CONNECTION_RECEIVES);
	assert_int_equal(web_connections_end_slow(&connections, now_ns + 50 * NS_PER_SECOND), 0);
	assert_int_equal(web_connections_end_slow(&connections, now_ns + 70 * NS_PER_SECOND), 1);
}

static void one_that_is_closed_is_nobody_s(void **state)
{
	struct web_connection *connection = web_connection_add(&connections, ends[0], &somebody);

	web_connection_forget(&connections, connection);
	assert_int_equal(
		web_connections_end_slow(&connections, clock_now_ns() + 100 * NS_PER_SECOND), 0);
	assert_true(is_open());
}

/* Shut down ones are still there until the server has closed them. */
static void too_many_are_not_watched(void **state)
{
	for (int i = 0; i < WEB_CONNECTIONS_MAX; i++)
		assert_non_null(web_connection_add(&connections, ends[0], &somebody));
	assert_null(web_connection_add(&connections, ends[0], &somebody));
	web_connection_enter(&connections, NULL, WEB_CONNECTION_WAITS);
}

/* So many of an address, and none has a socket that could be shut down but the last. */
static struct web_connection *fill(const struct web_address *address, int count,
				   enum web_connection_phase phase)
{
	struct web_connection *last = NULL;

	while (count-- > 0) {
		last = web_connection_add(&connections, -1, address);
		web_connection_enter(&connections, last, phase);
	}
	return last;
}

static void a_new_one_finds_room(void **state)
{
	struct web_connection *only, *oldest;

	oldest = fill(&somebody, 1, WEB_CONNECTION_ASKS);
	only = fill(&others, 1, WEB_CONNECTION_ASKS);
	fill(&somebody, WEB_CONNECTIONS_KEPT - 2, WEB_CONNECTION_ASKS);
	assert_int_equal(oldest->phase, WEB_CONNECTION_ASKS);
	assert_non_null(web_connection_add(&connections, ends[0], &somebody));
	/* The oldest of the address that has most. */
	assert_int_equal(oldest->phase, WEB_CONNECTION_ENDS);
	assert_true(is_open());
	fill(&somebody, WEB_CONNECTIONS_KEPT - 2, WEB_CONNECTION_ASKS);
	assert_true(is_open());
	fill(&somebody, 1, WEB_CONNECTION_ASKS);
	assert_false(is_open());
	assert_int_equal(only->phase, WEB_CONNECTION_ASKS);
}

static void one_that_asks_for_nothing_ends_first(void **state)
{
	struct web_connection *idle;

	fill(&somebody, WEB_CONNECTIONS_KEPT - 1, WEB_CONNECTION_RECEIVES);
	idle = fill(&others, 1, WEB_CONNECTION_ASKS);
	web_connection_enter(&connections, web_connection_add(&connections, -1, &others),
			     WEB_CONNECTION_WAITS);
	assert_int_equal(idle->phase, WEB_CONNECTION_ENDS);
	/* It asks all the same, and its answer goes nowhere. */
	web_connection_enter(&connections, idle, WEB_CONNECTION_WAITS);
	assert_int_equal(idle->phase, WEB_CONNECTION_ENDS);
	web_connection_forget(&connections, idle);
	assert_int_equal(idle->phase, WEB_CONNECTION_FREE);
	/* With none that asks, those of the address with most go. */
	fill(&others, 3, WEB_CONNECTION_WAITS);
	for (int i = 0, ended = 0; i < WEB_CONNECTIONS_MAX; i++) {
		ended += connections.items[i].phase == WEB_CONNECTION_ENDS;
		if (i == WEB_CONNECTIONS_MAX - 1)
			assert_int_equal(ended, 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(one_that_asks_for_long_is_ended),	    TEST(one_that_waits_for_us_may_wait),
		TEST(one_that_is_closed_is_nobody_s),	    TEST(a_new_one_finds_room),
		TEST(one_that_asks_for_nothing_ends_first), TEST(too_many_are_not_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
