// SPDX-License-Identifier: BSD-2-Clause
/* Tests for event/event_queue: order, stability, watermarks, memory that is used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event/decoder.h"
#include "event/encoder.h"
#include "event/event_queue.h"

struct seen {
	uint64_t time_ns;
	uint64_t count; /* order of the push */
};

struct log_of_seen {
	ARRAY_OF(struct seen) items;
};

static void note_lost(void *context, const struct lost_view *lost)
{
	struct log_of_seen *log = context;
	struct seen *seen = array_add(&log->items);

	assert_non_null(seen);
	*seen = (struct seen){lost->time_ns, lost->count};
}

static const struct event_sink_ops noting_ops = {.on_lost = note_lost};

struct fixture {
	struct event_queue *queue;
	struct event_buffer buffer;
	struct log_of_seen log;
	struct event_sink sink;
	uint64_t pushed;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->queue = event_queue_new();
	fixture->sink = (struct event_sink){&noting_ops, &fixture->log};
	*state = fixture;
	return fixture->queue ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	event_queue_free(fixture->queue);
	event_buffer_done(&fixture->buffer);
	array_free(&fixture->log.items);
	free(fixture);
	return 0;
}

static void push_at(struct fixture *fixture, uint64_t time_ns)
{
	struct lost_view lost = {.time_ns = time_ns, .count = fixture->pushed++};

	event_buffer_clear(&fixture->buffer);
	assert_int_equal(event_encode_lost(&fixture->buffer, &lost), 0);
	assert_int_equal(
		event_queue_push(fixture->queue, fixture->buffer.data, fixture->buffer.size), 0);
}

static void assert_sorted_and_stable(const struct log_of_seen *log)
{
	for (size_t i = 1; i < log->items.count; i++) {
		const struct seen *a = &log->items.items[i - 1], *b = &log->items.items[i];

		assert_true(a->time_ns <= b->time_ns);
		if (a->time_ns == b->time_ns)
			assert_true(a->count < b->count);
	}
}

static void delivers_nothing_from_an_empty_queue(void **state)
{
	struct fixture *fixture = *state;

	event_queue_flush(fixture->queue, UINT64_MAX, &fixture->sink);
	assert_int_equal(fixture->log.items.count, 0);
	assert_int_equal(event_queue_stats(fixture->queue).bytes_waiting, 0);
}

static void merges_rings_by_time(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t ring = 0; ring < 8; ring++)
		for (uint64_t i = 0; i < 1000; i++)
			push_at(fixture, i * 8 + (ring * 5) % 8);
	event_queue_flush(fixture->queue, UINT64_MAX, &fixture->sink);
	assert_int_equal(fixture->log.items.count, 8000);
	for (size_t i = 0; i < 8000; i++)
		assert_int_equal(fixture->log.items.items[i].time_ns, i);
	assert_int_equal(event_queue_stats(fixture->queue).late, 0);
}

static void keeps_order_of_arrival_among_equal_times(void **state)
{
	struct fixture *fixture = *state;
	uint64_t generator = 88172645463325252ULL;

	for (int i = 0; i < 5000; i++) {
		generator ^= generator << 13;
		generator ^= generator >> 7;
		generator ^= generator << 17;
		push_at(fixture, generator % 50);
	}
	event_queue_flush(fixture->queue, UINT64_MAX, &fixture->sink);
	assert_int_equal(fixture->log.items.count, 5000);
	assert_sorted_and_stable(&fixture->log);
}

static void sorts_descending_times(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t i = 3000; i-- > 0;)
		push_at(fixture, i);
	event_queue_flush(fixture->queue, UINT64_MAX, &fixture->sink);
	assert_int_equal(fixture->log.items.count, 3000);
	assert_sorted_and_stable(&fixture->log);
}

static void holds_back_what_is_not_older_than_the_watermark(void **state)
{
	struct fixture *fixture = *state;

	push_at(fixture, 30);
	push_at(fixture, 10);
	push_at(fixture, 20);
	event_queue_flush(fixture->queue, 20, &fixture->sink);
	assert_int_equal(fixture->log.items.count, 1);
	assert_int_equal(fixture->log.items.items[0].time_ns, 10);
	assert_true(event_queue_stats(fixture->queue).bytes_waiting > 0);
	push_at(fixture, 15);
	push_at(fixture, 25);
	event_queue_flush(fixture->queue, UINT64_MAX, &fixture->sink);
	assert_int_equal(fixture->log.items.count, 5);
	assert_sorted_and_stable(&fixture->log);
	assert_int_equal(event_queue_stats(fixture->queue).delivered, 5);
	assert_int_equal(event_queue_stats(fixture->queue).late, 0);
	assert_int_equal(event_queue_stats(fixture->queue).bytes_waiting, 0);
}

static void delivers_records_of_the_last_possible_time_at_the_end(void **state)
{
	struct fixture *fixture = *state;

	push_at(fixture, UINT64_MAX);
	event_queue_flush(fixture->queue, UINT64_MAX - 1, &fixture->sink);
	assert_int_equal(fixture->log.items.count, 0);
	event_queue_flush(fixture->queue, UINT64_MAX, &fixture->sink);
	assert_int_equal(fixture->log.items.count, 1);
}

static void counts_late_records_and_delivers_them(void **state)
{
	struct fixture *fixture = *state;

	push_at(fixture, 100);
	event_queue_flush(fixture->queue, UINT64_MAX, &fixture->sink);
	push_at(fixture, 99);
	push_at(fixture, 100);
	event_queue_flush(fixture->queue, UINT64_MAX, &fixture->sink);
	assert_int_equal(fixture->log.items.count, 3);
	assert_int_equal(event_queue_stats(fixture->queue).late, 1);
}

static void survives_many_rounds_with_leftovers(void **state)
{
	struct fixture *fixture = *state;
	uint64_t now = 0;

	/* Two rings whose records lag behind each other by up to 50; more than a chunk per
	 * round. */
	for (int round = 0; round < 50; round++) {
		for (uint64_t i = 0; i < 6000; i++)
			push_at(fixture, now + i);
		for (uint64_t i = 0; i < 6000; i++)
			push_at(fixture, now + i + 50);
		event_queue_flush(fixture->queue, now + 6000, &fixture->sink);
		now += 6000;
	}
	event_queue_flush(fixture->queue, UINT64_MAX, &fixture->sink);
	assert_int_equal(fixture->log.items.count, 600000);
	assert_sorted_and_stable(&fixture->log);
	assert_int_equal(event_queue_stats(fixture->queue).late, 0);
	assert_int_equal(event_queue_stats(fixture->queue).malformed, 0);
}

static void refuses_what_is_no_record(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_event_header header = {.size = 8, .kind = 2};

	assert_int_equal(event_queue_push(fixture->queue, &header, sizeof(header)), -EBADMSG);
	header.size = 24;
	assert_int_equal(event_queue_push(fixture->queue, &header, sizeof(header)), -EBADMSG);
	assert_int_equal(event_queue_push(fixture->queue, &header, 3), -EBADMSG);
	assert_int_equal(event_queue_stats(fixture->queue).malformed, 3);
	assert_int_equal(event_queue_stats(fixture->queue).bytes_waiting, 0);
}

static void counts_records_that_the_decoder_refuses(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_event_lost lost = {
		.header = {.size = sizeof(lost), .kind = PKBPF_EVENT_LOST, .time_ns = 2},
		.cause = PKBPF_COUNTER_COUNT};

	push_at(fixture, 1);
	assert_int_equal(event_queue_push(fixture->queue, &lost, sizeof(lost)), 0);
	push_at(fixture, 3);
	event_queue_flush(fixture->queue, UINT64_MAX, &fixture->sink);
	assert_int_equal(fixture->log.items.count, 2);
	assert_int_equal(event_queue_stats(fixture->queue).malformed, 1);
	assert_int_equal(event_queue_stats(fixture->queue).delivered, 2);
}

static void refuses_more_than_its_bound_and_recovers(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_event_header *record = calloc(1, EVENT_MAX_RECORD_SIZE);
	size_t fit = EVENT_QUEUE_MAX_BYTES / EVENT_MAX_RECORD_SIZE;

	*record = (struct pkbpf_event_header){.size = EVENT_MAX_RECORD_SIZE, .kind = 500};
	for (size_t i = 0; i < fit; i++) {
		record->time_ns = i;
		assert_int_equal(event_queue_push(fixture->queue, record, EVENT_MAX_RECORD_SIZE),
				 0);
	}
	assert_int_equal(event_queue_push(fixture->queue, record, EVENT_MAX_RECORD_SIZE), -ENOMEM);
	event_queue_flush(fixture->queue, 10, &fixture->sink);
	assert_int_equal(event_queue_push(fixture->queue, record, EVENT_MAX_RECORD_SIZE), 0);
	event_queue_flush(fixture->queue, UINT64_MAX, &fixture->sink);
	assert_int_equal(event_queue_stats(fixture->queue).delivered, fit + 1);
	free(record);
}

#define QUEUE_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		QUEUE_TEST(delivers_nothing_from_an_empty_queue),
		QUEUE_TEST(merges_rings_by_time),
		QUEUE_TEST(keeps_order_of_arrival_among_equal_times),
		QUEUE_TEST(sorts_descending_times),
		QUEUE_TEST(holds_back_what_is_not_older_than_the_watermark),
		QUEUE_TEST(delivers_records_of_the_last_possible_time_at_the_end),
		QUEUE_TEST(counts_late_records_and_delivers_them),
		QUEUE_TEST(survives_many_rounds_with_leftovers),
		QUEUE_TEST(refuses_what_is_no_record),
		QUEUE_TEST(counts_records_that_the_decoder_refuses),
		QUEUE_TEST(refuses_more_than_its_bound_and_recovers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
