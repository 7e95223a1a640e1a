// SPDX-License-Identifier: BSD-2-Clause
/* Tests for numbers of network peers: one for each, a record of each, and what comes when there are
 * too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "event/peer_event.h"
#include "source/network/network_peers.h"

#define MOST 65536U

struct fixture {
	struct network_peers *peers;
	struct event_buffer buffer;
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){.peers = network_peers_new()};
	assert_non_null(fixture.peers);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	network_peers_free(fixture->peers);
	event_buffer_done(&fixture->buffer);
	return 0;
}

/* A client's row of the peer with this address. */
static struct pkbpf_network_row row_of(uint32_t address, uint16_t port)
{
	struct pkbpf_network_row row = {.key.pid = 100};

	memcpy(row.key.peer.address, &address, sizeof(address));
	row.key.peer.family = PKBPF_NETWORK_IPV4;
	row.key.peer.role = PKBPF_NETWORK_CLIENT;
	row.key.peer.port = port;
	return row;
}

static uint32_t number_of(struct fixture *fixture, const struct pkbpf_network_row *row)
{
	return network_peers_number(fixture->peers, row, &fixture->buffer);
}

/* The only record, which is taken. */
static struct peer_view take_record(struct fixture *fixture)
{
	struct peer_view view;

	assert_true(fixture->buffer.size > 0);
	assert_int_equal(peer_event_decode((const void *)fixture->buffer.data, &view), 0);
	assert_int_equal(
		((const struct pkbpf_event_header *)(const void *)fixture->buffer.data)->size,
		fixture->buffer.size);
	event_buffer_clear(&fixture->buffer);
	return view;
}

static void each_peer_has_one_number_and_one_record(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_network_row first = row_of(1, 80), second = row_of(1, 81);
	struct peer_view view;

	assert_int_equal(number_of(fixture, &first), 1);
	view = take_record(fixture);
	assert_int_equal(view.number, 1);
	assert_int_equal(view.peer.port, 80);
	assert_int_equal(view.pid, 0);
	assert_int_equal(number_of(fixture, &second), 2);
	assert_int_equal(take_record(fixture).number, 2);
	first.key.pid = 200;
	assert_int_equal(number_of(fixture, &first), 1);
	assert_int_equal(fixture->buffer.size, 0);
}

static void names_of_the_abstract_namespace_begin_with_an_at_sign(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_network_row row = row_of(0, 0);

	row.key.peer.family = PKBPF_NETWORK_UNIX;
	memcpy(row.name, "\0bus", 4);
	row.name_bytes = 4;
	row.peer_pid = 7;
	memcpy(row.peer_comm, "broker", 6);
	assert_int_equal(number_of(fixture, &row), 1);
	{
		struct peer_view view = take_record(fixture);

		assert_string_equal(view.name, "@bus");
		assert_string_equal(view.comm, "broker");
		assert_int_equal(view.pid, 7);
	}
	/* A length that is none ends with the field. */
	row.key.peer.port = 1;
	row.name_bytes = UINT32_MAX;
	memset(row.name, 'n', sizeof(row.name));
	assert_int_equal(number_of(fixture, &row), 2);
	assert_int_equal(strlen(take_record(fixture).name), PKBPF_NETWORK_NAME);
}

/* Whoever writes to a pipe is there before its reader. */
static void the_other_end_of_a_pipe_is_sent_when_it_is_known(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_network_row row = row_of(5, 0);
	struct peer_view view;

	row.key.peer.family = PKBPF_NETWORK_PIPE;
	assert_int_equal(number_of(fixture, &row), 1);
	assert_int_equal(take_record(fixture).pid, 0);
	assert_int_equal(network_peers_send_named(fixture->peers, &fixture->buffer), 0);
	assert_int_equal(fixture->buffer.size, 0);
	row.peer_pid = 9;
	memcpy(row.peer_comm, "reader", 6);
	assert_int_equal(number_of(fixture, &row), 1);
	assert_int_equal(network_peers_send_named(fixture->peers, &fixture->buffer), 0);
	view = take_record(fixture);
	assert_int_equal(view.number, 1);
	assert_int_equal(view.pid, 9);
	assert_string_equal(view.comm, "reader");
	assert_int_equal(network_peers_send_named(fixture->peers, &fixture->buffer), 0);
	assert_int_equal(fixture->buffer.size, 0);
}

static void a_server_of_this_host_names_the_peers_of_its_clients(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_network_row client = row_of(0, 5432), distant = row_of(0x0100000a, 5432),
				 server = row_of(0, 5432);
	struct peer_view view;

	client.key.peer.address[0] = 127;
	client.key.peer.net = server.key.peer.net = 11;
	assert_int_equal(number_of(fixture, &client), 1);
	assert_int_equal(number_of(fixture, &distant), 2);
	event_buffer_clear(&fixture->buffer);
	server.key.peer.role = PKBPF_NETWORK_SERVER;
	server.key.pid = 300;
	memcpy(server.comm, "postgres", 8);
	network_peers_note_server(fixture->peers, &server);
	assert_int_equal(network_peers_send_named(fixture->peers, &fixture->buffer), 0);
	/* The distant one has the same port, and is not it. */
	view = take_record(fixture);
	assert_int_equal(view.number, 1);
	assert_int_equal(view.pid, 300);
	assert_string_equal(view.comm, "postgres");
}

static struct pkbpf_network_row unix_row(uint8_t role, uint32_t pid, const char *comm)
{
	struct pkbpf_network_row row = {
		.key = {.pid = pid, .peer = {.family = PKBPF_NETWORK_UNIX, .role = role}}};

	row.key.peer.address[0] = 7;
	snprintf(row.comm, sizeof(row.comm), "%s", comm);
	return row;
}

static void the_process_that_accepts_is_the_peer_not_the_one_that_listens(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_network_row client = unix_row(PKBPF_NETWORK_CLIENT, 100, "client");
	struct pkbpf_network_row same = unix_row(PKBPF_NETWORK_SERVER, 51, "init");
	struct pkbpf_network_row service = unix_row(PKBPF_NETWORK_SERVER, 60, "service");
	struct pkbpf_network_row listener = unix_row(PKBPF_NETWORK_SERVER, 50, "init");
	struct peer_view view;

	client.peer_pid = 50;
	snprintf(client.peer_comm, sizeof(client.peer_comm), "init");
	assert_int_equal(number_of(fixture, &client), 1);
	view = take_record(fixture);
	assert_int_equal(view.pid, 50);

	network_peers_note_server(fixture->peers, &same);
	assert_int_equal(network_peers_send_named(fixture->peers, &fixture->buffer), 0);
	assert_int_equal(fixture->buffer.size, 0);

	network_peers_note_server(fixture->peers, &service);
	assert_int_equal(network_peers_send_named(fixture->peers, &fixture->buffer), 0);
	view = take_record(fixture);
	assert_int_equal(view.pid, 60);
	assert_string_equal(view.comm, "service");

	network_peers_note_server(fixture->peers, &listener);
	network_peers_note_server(fixture->peers, &service);
	assert_int_equal(network_peers_send_named(fixture->peers, &fixture->buffer), 0);
	view = take_record(fixture);
	assert_int_equal(view.pid, 50);
	assert_string_equal(view.comm, "init");
}

static void peers_beyond_the_most_are_one_and_known_ones_stay(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_network_row row;
	uint32_t others;

	for (uint32_t i = 0; i < MOST; i++) {
		row = row_of(i, 80);
		assert_int_equal(number_of(fixture, &row), i + 1);
		event_buffer_clear(&fixture->buffer);
	}
	row = row_of(MOST, 80);
	others = number_of(fixture, &row);
	assert_int_equal(others, MOST + 1);
	assert_int_equal(take_record(fixture).peer.family, 0);
	row = row_of(MOST + 1, 80);
	assert_int_equal(number_of(fixture, &row), others);
	row = row_of(7, 80);
	assert_int_equal(number_of(fixture, &row), 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_peer_has_one_number_and_one_record),
		TEST(names_of_the_abstract_namespace_begin_with_an_at_sign),
		TEST(the_other_end_of_a_pipe_is_sent_when_it_is_known),
		TEST(a_server_of_this_host_names_the_peers_of_its_clients),
		TEST(the_process_that_accepts_is_the_peer_not_the_one_that_listens),
		TEST(peers_beyond_the_most_are_one_and_known_ones_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
