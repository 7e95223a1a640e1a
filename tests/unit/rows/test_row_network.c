// SPDX-License-Identifier: BSD-2-Clause
/* Tests which network events add to which figure of a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include <pkbpf/network.h>

#include "base/array.h"
#include "profile/account/distribution.h"
#include "rows/resource_rows.h"

#define COUNT 3
#define BYTES 700
#define TOTAL 5000

static struct row_network add(uint32_t kind, uint32_t measure, uint32_t state)
{
	struct resource_row row;
	const struct distribution distribution = {
		.key = {.kind = (uint8_t)kind,
			.measure = (uint8_t)measure,
			.state = (uint8_t)state},
		.count = COUNT,
		.bytes = BYTES,
		.total = TOTAL,
	};

	memset(&row, 0, sizeof(row));
	row_network_part.add_distribution(&row, &distribution);
	return row.network;
}

static void each_measure_adds_to_its_own_figure(void **state)
{
	static const struct {
		uint32_t measure, state;
		struct row_network expected;
	} table[] = {
		{PKBPF_NETWORK_MESSAGES,
		 PKBPF_NETWORK_SENT,
		 {.messages = COUNT, .sent_bytes = BYTES}},
		{PKBPF_NETWORK_MESSAGES,
		 PKBPF_NETWORK_RECEIVED,
		 {.messages = COUNT, .received_bytes = BYTES}},
		{PKBPF_NETWORK_CONNECTS, 0, {.connects = COUNT}},
		{PKBPF_NETWORK_ACCEPTS, 0, {.accepts = COUNT}},
		{PKBPF_NETWORK_FAILURES, 0, {.failures = COUNT}},
		{PKBPF_NETWORK_RETRANSMITS, 0, {.retransmits = COUNT}},
		{PKBPF_NETWORK_WAITS, PKBPF_NETWORK_CLIENT, {.wait_ns = TOTAL}},
		/* A server that waits for requests has nothing to do. */
		{PKBPF_NETWORK_WAITS, PKBPF_NETWORK_SERVER, {.wait_ns = 0}},
		{PKBPF_NETWORK_RESPONSES, PKBPF_NETWORK_CLIENT, {.wait_ns = 0}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct row_network got =
			add(PKBPF_PROFILE_NETWORK, table[i].measure, table[i].state);
		struct row_network none =
			add(PKBPF_PROFILE_OFFCPU, table[i].measure, table[i].state);

		assert_memory_equal(&got, &table[i].expected, sizeof(got));
		assert_memory_equal(&none, &(struct row_network){0}, sizeof(none));
	}
}

/* The percentiles of a row that a distribution is of; SIZE_MAX: none. */
static size_t lengths_of(uint32_t kind, uint32_t measure, uint32_t state)
{
	const struct distribution_key key = {
		.kind = (uint8_t)kind, .measure = (uint8_t)measure, .state = (uint8_t)state};
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < row_network_part.length_count; i++) {
		if (!row_network_part.lengths[i].has(&key))
			continue;
		assert_true(found == SIZE_MAX);
		found = row_network_part.lengths[i].offset;
	}
	return found;
}

static void percentiles_of_clients_and_servers_are_apart(void **state)
{
	const uint32_t network = PKBPF_PROFILE_NETWORK;

	(void)state;
	assert_int_equal(lengths_of(network, PKBPF_NETWORK_WAITS, PKBPF_NETWORK_CLIENT),
			 offsetof(struct resource_row, network.wait));
	assert_true(lengths_of(network, PKBPF_NETWORK_WAITS, PKBPF_NETWORK_SERVER) == SIZE_MAX);
	assert_int_equal(lengths_of(network, PKBPF_NETWORK_RESPONSES, PKBPF_NETWORK_CLIENT),
			 offsetof(struct resource_row, network.response));
	assert_int_equal(lengths_of(network, PKBPF_NETWORK_RESPONSES, PKBPF_NETWORK_SERVER),
			 offsetof(struct resource_row, network.service));
	assert_int_equal(lengths_of(network, PKBPF_NETWORK_CONNECTS, 0),
			 offsetof(struct resource_row, network.connect));
	assert_true(lengths_of(network, PKBPF_NETWORK_MESSAGES, 0) == SIZE_MAX);
	assert_true(lengths_of(PKBPF_PROFILE_OFFCPU, PKBPF_NETWORK_WAITS, 0) == SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_measure_adds_to_its_own_figure),
		cmocka_unit_test(percentiles_of_clients_and_servers_are_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
