// SPDX-License-Identifier: BSD-2-Clause
/* Tests that sums of network messages become records of what was added, each exactly once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event/decoder.h"
#include "source/network/network_records.h"

#define PEER	 3
#define MAX_SEEN 16

struct fixture {
	struct pkbpf_network_row row, sent;
	struct pkbpf_network_histogram histogram, sent_histogram;
	struct event_buffer buffer;
	struct totals_view seen[MAX_SEEN];
	uint64_t bucket_sums[MAX_SEEN];
	size_t count;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->row.key.pid = 100;
	memcpy(fixture->row.comm, "server", 6);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	event_buffer_done(&fixture->buffer);
	free(fixture);
	return 0;
}

static void see(void *context, const struct totals_view *totals)
{
	struct fixture *fixture = context;

	assert_true(fixture->count < MAX_SEEN);
	for (size_t i = 0; i < totals->bucket_count; i++)
		fixture->bucket_sums[fixture->count] += totals->buckets[i].count;
	fixture->seen[fixture->count++] = *totals;
}

static void drain(struct fixture *fixture)
{
	static const struct event_sink_ops ops = {.on_totals = see};
	struct event_sink sink = {.ops = &ops, .context = fixture};
	struct network_buckets buckets[NETWORK_LENGTHS] = {
		[NETWORK_RESPONSES] = {&fixture->histogram, &fixture->sent_histogram}};
	size_t offset = 0;

	fixture->count = 0;
	memset(fixture->bucket_sums, 0, sizeof(fixture->bucket_sums));
	event_buffer_done(&fixture->buffer);
	fixture->buffer = (struct event_buffer){0};
	assert_int_equal(network_records_of_row(&fixture->row, &fixture->sent, PEER, buckets,
						&fixture->buffer),
			 0);
	while (offset < fixture->buffer.size) {
		int used = event_decode(fixture->buffer.data + offset,
					fixture->buffer.size - offset, &sink);

		assert_true(used > 0);
		offset += (size_t)used;
	}
}

static void what_was_added_is_sent_once(void **state)
{
	struct fixture *fixture = *state;

	fixture->row.sent = 3;
	fixture->row.sent_bytes = 300;
	assert_true(network_row_has_news(&fixture->row, &fixture->sent));
	drain(fixture);
	assert_int_equal(fixture->count, 1);
	assert_int_equal(fixture->seen[0].kind, PKBPF_PROFILE_NETWORK);
	assert_int_equal(fixture->seen[0].device, PEER);
	assert_int_equal(fixture->seen[0].measure, PKBPF_NETWORK_MESSAGES);
	assert_int_equal(fixture->seen[0].state, PKBPF_NETWORK_SENT);
	assert_int_equal(fixture->seen[0].count, 3);
	assert_int_equal(fixture->seen[0].bytes, 300);
	assert_false(network_row_has_news(&fixture->row, &fixture->sent));
	drain(fixture);
	assert_int_equal(fixture->count, 0);
	fixture->row.sent = 5;
	fixture->row.sent_bytes = 350;
	drain(fixture);
	assert_int_equal(fixture->count, 1);
	assert_int_equal(fixture->seen[0].count, 2);
	assert_int_equal(fixture->seen[0].bytes, 50);
}

static void lengths_go_with_their_histogram(void **state)
{
	struct fixture *fixture = *state;

	fixture->row.responses.count = 4;
	fixture->row.responses.total_ns = 400;
	fixture->row.responses.max_ns = 150;
	fixture->histogram.buckets[20] = 3;
	fixture->histogram.buckets[40] = 1;
	drain(fixture);
	assert_int_equal(fixture->count, 1);
	assert_int_equal(fixture->seen[0].measure, PKBPF_NETWORK_RESPONSES);
	assert_int_equal(fixture->seen[0].total, 400);
	assert_int_equal(fixture->seen[0].max, 150);
	assert_int_equal(fixture->bucket_sums[0], 4);
	fixture->row.responses.count = 5;
	fixture->row.responses.total_ns = 450;
	fixture->histogram.buckets[20] = 4;
	drain(fixture);
	assert_int_equal(fixture->seen[0].count, 1);
	assert_int_equal(fixture->seen[0].total, 50);
	assert_int_equal(fixture->bucket_sums[0], 1);
}

static void failures_are_told_apart_by_their_error(void **state)
{
	struct fixture *fixture = *state;

	fixture->row.failures[0] = (struct pkbpf_network_failure){.error = 112, .count = 2};
	fixture->row.failures[1] = (struct pkbpf_network_failure){.error = 1, .count = 1};
	drain(fixture);
	assert_int_equal(fixture->count, 2);
	assert_int_equal(fixture->seen[0].measure, PKBPF_NETWORK_FAILURES);
	assert_int_equal(fixture->seen[0].state, 111);
	assert_int_equal(fixture->seen[0].count, 2);
	assert_int_equal(fixture->seen[1].state, 0);
	drain(fixture);
	assert_int_equal(fixture->count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_added_is_sent_once, setup, teardown),
		cmocka_unit_test_setup_teardown(lengths_go_with_their_histogram, setup, teardown),
		cmocka_unit_test_setup_teardown(failures_are_told_apart_by_their_error, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
