// SPDX-License-Identifier: BSD-2-Clause
/* Tests which slow requests are passed on, and from when on the kernel side need not send one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event/decoder.h"
#include "source/blockio/slow_io_choice.h"

#define LIMIT 3
#define MIN   100
#define END   100000

struct fixture {
	struct slow_io_choice choice;
	struct event_buffer buffer;
	struct pkbpf_blockio_row row;
	struct slow_io_view seen[8];
	size_t seen_count;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->choice = (struct slow_io_choice){.min_ns = MIN, .slowest.limit = LIMIT};
	fixture->row.key = (struct pkbpf_blockio_row_key){
		.stack_id = 77, .pid = 100, .device = 254U << 20, .state = PKBPF_BLOCKIO_READ};
	fixture->row.cgroup_id = 5;
	memcpy(fixture->row.comm, "server", sizeof("server"));
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	slow_io_choice_done(&fixture->choice);
	event_buffer_done(&fixture->buffer);
	free(fixture);
	return 0;
}

/* A record as the programs send it. */
static int add(struct fixture *fixture, uint64_t total_ns)
{
	struct pkbpf_event_slow_io record = {
		.header = {.size = sizeof(record),
			   .kind = PKBPF_EVENT_SLOW_IO,
			   .time_ns = 1000 + total_ns},
		.insert_ns = 1000,
		.issue_ns = 1000 + total_ns / 2,
		.pid = 100,
		.bytes = (uint32_t)total_ns,
	};

	return slow_io_choice_add(&fixture->choice, &record, sizeof(record), &fixture->buffer);
}

static void on_slow_io(void *context, const struct slow_io_view *slow_io)
{
	struct fixture *fixture = context;

	assert_true(fixture->seen_count < sizeof(fixture->seen) / sizeof(fixture->seen[0]));
	fixture->seen[fixture->seen_count++] = *slow_io;
}

static size_t passed_on(struct fixture *fixture)
{
	static const struct event_sink_ops ops = {.on_slow_io = on_slow_io};
	struct event_sink sink = {.ops = &ops, .context = fixture};

	fixture->seen_count = 0;
	for (size_t at = 0; at < fixture->buffer.size;) {
		int size =
			event_decode(fixture->buffer.data + at, fixture->buffer.size - at, &sink);

		assert_true(size > 0);
		at += (size_t)size;
	}
	event_buffer_clear(&fixture->buffer);
	return fixture->seen_count;
}

static void the_bound_rises_to_the_slowest_when_there_are_enough(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(slow_io_choice_bound_ns(&fixture->choice), MIN);
	assert_int_equal(add(fixture, 500), 0);
	assert_int_equal(add(fixture, 300), 0);
	assert_int_equal(slow_io_choice_bound_ns(&fixture->choice), MIN);
	assert_int_equal(add(fixture, 400), 0);
	assert_int_equal(slow_io_choice_bound_ns(&fixture->choice), 301);
	assert_int_equal(add(fixture, 1000), 0);
	assert_int_equal(slow_io_choice_bound_ns(&fixture->choice), 401);
}

static void records_are_passed_on_as_they_are(void **state)
{
	struct fixture *fixture = *state;

	add(fixture, 500);
	assert_int_equal(passed_on(fixture), 1);
	assert_int_equal(fixture->seen[0].insert_ns, 1000);
	assert_int_equal(fixture->seen[0].issue_ns, 1250);
	assert_int_equal(fixture->seen[0].time_ns, 1500);
	assert_int_equal(fixture->seen[0].bytes, 500);
	assert_int_equal(fixture->seen[0].pid, 100);
}

/* Records that were sent before the kernel side saw the new bound. */
static void what_is_no_longer_slow_is_left_out(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t i = 0; i < 5; i++)
		add(fixture, 500);
	add(fixture, MIN - 1);
	assert_int_equal(passed_on(fixture), LIMIT);
}

static void what_is_shorter_than_asked_for_is_left_out_although_there_is_room(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(add(fixture, MIN - 1), 0);
	assert_int_equal(passed_on(fixture), 0);
	assert_int_equal(add(fixture, MIN), 0);
	assert_int_equal(passed_on(fixture), 1);
}

static void other_records_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_event_slow_io record = {
		.header = {.size = sizeof(record), .kind = PKBPF_EVENT_SAMPLE}};

	assert_int_equal(
		slow_io_choice_add(&fixture->choice, &record, sizeof(record), &fixture->buffer),
		-EBADMSG);
	record.header.kind = PKBPF_EVENT_SLOW_IO;
	assert_int_equal(
		slow_io_choice_add(&fixture->choice, &record, sizeof(record) - 8, &fixture->buffer),
		-EBADMSG);
}

static int add_open(struct fixture *fixture, struct pkbpf_blockio_request request)
{
	request.tid = 101;
	request.length = 4096;
	return slow_io_choice_add_open(&fixture->choice, &fixture->row, &request, END,
				       &fixture->buffer);
}

static void a_request_with_the_device_at_the_end_took_until_then(void **state)
{
	struct fixture *fixture = *state;
	const struct slow_io_view *seen = &fixture->seen[0];

	assert_int_equal(add_open(fixture, (struct pkbpf_blockio_request){.issue_ns = END - 300,
									  .queue_ns = 200}),
			 0);
	assert_int_equal(passed_on(fixture), 1);
	assert_true(seen->open);
	assert_int_equal(seen->insert_ns, END - 500);
	assert_int_equal(seen->issue_ns, END - 300);
	assert_int_equal(seen->time_ns, END);
	assert_int_equal(seen->stack_id, 77);
	assert_int_equal(seen->pid, 100);
	assert_int_equal(seen->tid, 101);
	assert_int_equal(seen->bytes, 4096);
	assert_int_equal(seen->cgroup_id, 5);
	assert_int_equal(seen->device, 254U << 20);
	assert_int_equal(seen->state, PKBPF_BLOCKIO_READ);
	assert_true(seen->sector == PKBPF_NO_SECTOR);
	assert_string_equal(seen->comm, "server");
}

static void a_request_in_the_queue_at_the_end_was_not_issued(void **state)
{
	struct fixture *fixture = *state;

	/* Again, after the device would not take it. */
	assert_int_equal(add_open(fixture, (struct pkbpf_blockio_request){.insert_ns = END - 300,
									  .queue_ns = 200}),
			 0);
	assert_int_equal(passed_on(fixture), 1);
	assert_int_equal(fixture->seen[0].insert_ns, END - 500);
	assert_int_equal(fixture->seen[0].issue_ns, 0);
}

static void requests_that_began_a_moment_ago_or_for_another_device_are_left_out(void **state)
{
	struct fixture *fixture = *state;

	add_open(fixture, (struct pkbpf_blockio_request){.issue_ns = END - MIN + 1});
	add_open(fixture, (struct pkbpf_blockio_request){.issue_ns = END + 1});
	fixture->row.key.lower = 1;
	add_open(fixture, (struct pkbpf_blockio_request){.issue_ns = END - 10 * MIN});
	assert_int_equal(passed_on(fixture), 0);
}

static void nobody_asks_for_slow_requests(void **state)
{
	struct fixture *fixture = *state;

	fixture->choice.min_ns = UINT64_MAX;
	assert_true(slow_io_choice_bound_ns(&fixture->choice) == UINT64_MAX);
	add_open(fixture, (struct pkbpf_blockio_request){.issue_ns = 1});
	assert_int_equal(passed_on(fixture), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_bound_rises_to_the_slowest_when_there_are_enough),
		TEST(records_are_passed_on_as_they_are),
		TEST(what_is_no_longer_slow_is_left_out),
		TEST(what_is_shorter_than_asked_for_is_left_out_although_there_is_room),
		TEST(other_records_are_refused),
		TEST(a_request_with_the_device_at_the_end_took_until_then),
		TEST(a_request_in_the_queue_at_the_end_was_not_issued),
		TEST(requests_that_began_a_moment_ago_or_for_another_device_are_left_out),
		TEST(nobody_asks_for_slow_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
