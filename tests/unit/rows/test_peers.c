// SPDX-License-Identifier: BSD-2-Clause
/* Tests that network messages add up by process and peer, whatever numbers their peers have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "base/unused.h"
#include "event/decoder.h"
#include "event/peer_event.h"
#include "fake_profile.h"
#include "profile/slice/slice.h"
#include "rows/peers.h"

#define PID 100

static int setup(void **state)
{
	struct fake_profile *fake = calloc(1, sizeof(*fake));

	fake_profile_init(fake, NULL);
	*state = fake;
	return 0;
}

static int teardown(void **state)
{
	fake_profile_done(*state);
	free(*state);
	return 0;
}

static struct pkbpf_network_peer address_of(const char *text, uint16_t port, uint8_t role)
{
	struct pkbpf_network_peer peer = {
		.port = port, .role = role, .protocol = PKBPF_NETWORK_TCP};

	if (inet_pton(AF_INET, text, peer.address) == 1)
		peer.family = PKBPF_NETWORK_IPV4;
	else if (inet_pton(AF_INET6, text, peer.address) == 1)
		peer.family = PKBPF_NETWORK_IPV6;
	return peer;
}

static void feed(struct fake_profile *fake, struct event_buffer *buffer)
{
	struct event_sink sink = aggregator_sink(fake->aggregator);
	size_t offset = 0;

	while (offset < buffer->size) {
		int used = event_decode(buffer->data + offset, buffer->size - offset, &sink);

		assert_true(used > 0);
		offset += (size_t)used;
	}
	event_buffer_done(buffer);
	*buffer = (struct event_buffer){0};
}

static void meet(struct fake_profile *fake, uint32_t number,
		 const struct pkbpf_network_peer *address, const char *name)
{
	struct peer_view view = {.time_ns = 1, .number = number, .peer = *address};
	struct event_buffer buffer = {0};

	strncpy(view.name, name, sizeof(view.name) - 1);
	assert_int_equal(peer_event_encode(&buffer, &view), 0);
	feed(fake, &buffer);
}

static void add(struct fake_profile *fake, uint32_t peer, uint8_t measure, uint8_t state,
		uint64_t count, uint64_t value)
{
	struct pkbpf_histogram_bucket bucket = {pkbpf_histogram_index(value), (uint32_t)count};
	struct totals_view view = {.time_ns = 2,
				   .pid = PID,
				   .device = peer,
				   .kind = PKBPF_PROFILE_NETWORK,
				   .measure = measure,
				   .state = state,
				   .comm = "server",
				   .count = count,
				   .total = measure ? count * value : count,
				   .bytes = measure ? 0 : value,
				   .max = measure ? value : 0,
				   .buckets = &bucket,
				   .bucket_count = measure ? 1 : 0};
	struct event_buffer buffer = {0};

	assert_int_equal(event_encode_totals(&buffer, &view), 0);
	feed(fake, &buffer);
}

static void assert_text(const struct pkbpf_network_peer *address, const char *name,
			const char *comm, const char *text)
{
	struct peer peer = {.address = *address};
	char buffer[PEER_TEXT_SIZE];

	strncpy(peer.name, name, sizeof(peer.name) - 1);
	strncpy(peer.comm, comm, sizeof(peer.comm) - 1);
	assert_string_equal(peer_text(buffer, &peer), text);
}

static void a_peer_has_a_text(_unused_ void **state)
{
	struct pkbpf_network_peer backend = address_of("10.0.0.7", 5432, PKBPF_NETWORK_CLIENT),
				  six = address_of("fe80::1", 80, PKBPF_NETWORK_CLIENT),
				  client = address_of("10.0.0.9", 80, PKBPF_NETWORK_SERVER),
				  any = {.family = PKBPF_NETWORK_IPV4,
					 .protocol = PKBPF_NETWORK_UDP,
					 .port = 53,
					 .role = PKBPF_NETWORK_SERVER},
				  several = {.family = PKBPF_NETWORK_IPV4,
					     .protocol = PKBPF_NETWORK_UDP,
					     .role = PKBPF_NETWORK_CLIENT},
				  local = {.family = PKBPF_NETWORK_UNIX,
					   .protocol = PKBPF_NETWORK_STREAM,
					   .role = PKBPF_NETWORK_CLIENT},
				  others = {0};

	assert_text(&backend, "", "", "tcp 10.0.0.7:5432 (postgresql?)");
	assert_text(&backend, "", "postgres", "tcp 10.0.0.7:5432 (postgres)");
	assert_text(&six, "", "", "tcp [fe80::1]:80 (http?)");
	assert_text(&client, "", "", "tcp :80 from 10.0.0.9");
	assert_text(&any, "", "", "udp :53 from clients");
	assert_text(&several, "", "", "udp to several");
	assert_text(&local, "/run/x", "", "unix /run/x");
	local.role = PKBPF_NETWORK_SERVER;
	assert_text(&local, "@x", "", "unix @x from clients");
	assert_text(&others, "", "", "others");
}

static void messages_add_up_by_peer(void **state)
{
	struct fake_profile *fake = *state;
	struct pkbpf_network_peer backend = address_of("10.0.0.7", 5432, PKBPF_NETWORK_CLIENT),
				  other = address_of("10.0.0.8", 5432, PKBPF_NETWORK_CLIENT);
	struct peer_rows rows;

	meet(fake, 1, &backend, "");
	meet(fake, 2, &other, "");
	add(fake, 2, PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 1, 10);
	add(fake, 1, PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 2, 100);
	add(fake, 1, PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 3, 200);
	add(fake, 1, PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_RECEIVED, 4, 5000);
	add(fake, 1, PKBPF_NETWORK_RESPONSES, 0, 4, 1000000);
	add(fake, 1, PKBPF_NETWORK_FAILURES, 111, 7, 0);
	assert_int_equal(peer_rows_init(&rows, fake->profile), 0);
	assert_int_equal(rows.count, 2);
	assert_memory_equal(&rows.items[0].peer->address, &backend, sizeof(backend));
	assert_int_equal(rows.items[0].sent, 5);
	assert_int_equal(rows.items[0].sent_bytes, 300);
	assert_int_equal(rows.items[0].received, 4);
	assert_int_equal(rows.items[0].received_bytes, 5000);
	assert_int_equal(rows.items[0].failures, 7);
	assert_int_equal(rows.items[0].responses.count, 4);
	assert_in_range(rows.items[0].responses.lengths.p99_ns, 969000, 1000000);
	assert_memory_equal(&rows.items[1].peer->address, &other, sizeof(other));
	assert_int_equal(rows.items[1].sent_bytes, 10);
	peer_rows_done(&rows);
}

static void slices_number_their_peers_apart(void **state)
{
	struct fake_profile *fake = *state, later = {0};
	struct pkbpf_network_peer backend = address_of("10.0.0.7", 5432, PKBPF_NETWORK_CLIENT),
				  other = address_of("10.0.0.8", 5432, PKBPF_NETWORK_CLIENT);
	struct profile *both = slice_new();
	struct peer_rows rows;

	fake_profile_init(&later, NULL);
	meet(fake, 1, &backend, "");
	meet(&later, 1, &other, "");
	meet(&later, 2, &backend, "");
	add(fake, 1, PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 1, 10);
	add(&later, 1, PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 1, 5);
	add(&later, 2, PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 2, 20);
	assert_int_equal(slice_merge(both, fake->profile), 0);
	assert_int_equal(slice_merge(both, later.profile), 0);
	assert_int_equal(peer_rows_init(&rows, both), 0);
	assert_int_equal(rows.count, 2);
	assert_memory_equal(&rows.items[0].peer->address, &backend, sizeof(backend));
	assert_int_equal(rows.items[0].sent_bytes, 30);
	assert_int_equal(rows.items[1].sent_bytes, 5);
	peer_rows_done(&rows);
	profile_free(both);
	fake_profile_done(&later);
}

static void a_peer_that_nobody_named_is_unknown(void **state)
{
	struct fake_profile *fake = *state;
	char buffer[PEER_TEXT_SIZE];
	struct peer_rows rows;

	add(fake, 9, PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 1, 10);
	assert_int_equal(peer_rows_init(&rows, fake->profile), 0);
	assert_int_equal(rows.count, 1);
	assert_null(rows.items[0].peer);
	assert_string_equal(peer_text(buffer, NULL), "unknown");
	peer_rows_done(&rows);
}

static void a_record_of_a_peer_is_checked(_unused_ void **state)
{
	struct peer_view view = {.number = 1}, decoded;
	struct event_buffer buffer = {0};
	struct pkbpf_event_peer *record;

	assert_int_equal(peer_event_encode(&buffer, &view), 0);
	record = (void *)buffer.data;
	assert_int_equal(peer_event_decode(&record->header, &decoded), 0);
	record->peer.family = 9;
	assert_int_not_equal(peer_event_decode(&record->header, &decoded), 0);
	record->peer.family = 0;
	record->number = 0;
	assert_int_not_equal(peer_event_decode(&record->header, &decoded), 0);
	record->number = 1;
	/* A name without an end. */
	memset(record->name, 'x', sizeof(record->name));
	assert_int_equal(peer_event_decode(&record->header, &decoded), 0);
	assert_int_equal(strlen(decoded.name), PKBPF_NETWORK_NAME);
	event_buffer_done(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_has_a_text),
		cmocka_unit_test_setup_teardown(messages_add_up_by_peer, setup, teardown),
		cmocka_unit_test_setup_teardown(slices_number_their_peers_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_nobody_named_is_unknown, setup,
						teardown),
		cmocka_unit_test(a_record_of_a_peer_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
