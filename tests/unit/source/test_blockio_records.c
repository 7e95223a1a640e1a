// SPDX-License-Identifier: BSD-2-Clause
/* Tests that sums of block requests become records of what was added, each exactly once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event/decoder.h"
#include "source/blockio/blockio_records.h"

#define MAX_SEEN 16

struct seen {
	struct totals_view views[MAX_SEEN];
	uint64_t bucket_sums[MAX_SEEN];
	size_t count;
};

struct fixture {
	struct pkbpf_blockio_row row;
	struct blockio_sent sent;
	struct pkbpf_blockio_histogram histogram, sent_histogram;
	struct event_buffer buffer;
	struct seen seen;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->row.key = (struct pkbpf_blockio_row_key){
		.stack_id = 77, .pid = 100, .device = 254U << 20, .state = PKBPF_BLOCKIO_READ};
	fixture->row.cgroup_id = 5;
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

static void on_totals(void *context, const struct totals_view *totals)
{
	struct seen *seen = context;

	assert_true(seen->count < MAX_SEEN);
	seen->bucket_sums[seen->count] = 0;
	for (size_t i = 0; i < totals->bucket_count; i++)
		seen->bucket_sums[seen->count] += totals->buckets[i].count;
	seen->views[seen->count++] = *totals;
}

/* What the programs do when a request is complete. */
static void complete(struct fixture *fixture, uint64_t bytes, uint64_t device_ns, uint64_t queue_ns)
{
	fixture->row.count++;
	fixture->row.bytes += bytes;
	fixture->row.total_ns += device_ns;
	fixture->row.queue_ns += queue_ns;
	if (device_ns > fixture->row.max_ns)
		fixture->row.max_ns = device_ns;
	if (queue_ns > fixture->row.queue_max_ns)
		fixture->row.queue_max_ns = queue_ns;
	fixture->histogram.device_time[pkbpf_histogram_index(device_ns)]++;
	fixture->histogram.queue_time[pkbpf_histogram_index(queue_ns)]++;
}

static struct seen *decode(struct fixture *fixture)
{
	static const struct event_sink_ops ops = {.on_totals = on_totals};
	struct event_sink sink = {.ops = &ops, .context = &fixture->seen};

	fixture->seen.count = 0;
	for (size_t at = 0; at < fixture->buffer.size;) {
		int size =
			event_decode(fixture->buffer.data + at, fixture->buffer.size - at, &sink);

		assert_true(size > 0);
		at += (size_t)size;
	}
	event_buffer_clear(&fixture->buffer);
	return &fixture->seen;
}

static struct seen *drain(struct fixture *fixture)
{
	assert_int_equal(blockio_records_of_row(&fixture->row, &fixture->sent, &fixture->histogram,
						&fixture->sent_histogram, &fixture->buffer),
			 0);
	return decode(fixture);
}

static void a_row_becomes_device_time_with_its_stack_and_queue_time_without(void **state)
{
	struct fixture *fixture = *state;
	struct seen *seen;

	complete(fixture, 4096, 30000, 2000);
	complete(fixture, 8192, 50000, 0);
	seen = drain(fixture);
	assert_int_equal(seen->count, 2);
	assert_int_equal(seen->views[0].measure, PKBPF_BLOCKIO_DEVICE_TIME);
	assert_int_equal(seen->views[0].stack_id, 77);
	assert_int_equal(seen->views[0].count, 2);
	assert_int_equal(seen->views[0].bytes, 12288);
	assert_int_equal(seen->views[0].total, 80000);
	assert_int_equal(seen->views[0].max, 50000);
	assert_int_equal(seen->views[0].device, 254U << 20);
	assert_int_equal(seen->views[0].cgroup_id, 5);
	assert_string_equal(seen->views[0].comm, "server");
	assert_int_equal(seen->bucket_sums[0], 2);
	assert_int_equal(seen->views[1].measure, PKBPF_BLOCKIO_QUEUE_TIME);
	assert_int_equal(seen->views[1].stack_id, 0);
	assert_int_equal(seen->views[1].count, 2);
	assert_int_equal(seen->views[1].total, 2000);
	assert_int_equal(seen->views[1].bytes, 0);
	assert_int_equal(seen->bucket_sums[1], 2);
}

static void nothing_new_makes_no_record(void **state)
{
	struct fixture *fixture = *state;

	complete(fixture, 4096, 30000, 0);
	drain(fixture);
	assert_int_equal(drain(fixture)->count, 0);
}

static void increments_of_two_drains_add_up(void **state)
{
	struct fixture *fixture = *state;
	struct seen *seen;

	complete(fixture, 4096, 30000, 100);
	drain(fixture);
	complete(fixture, 512, 20000, 300);
	seen = drain(fixture);
	assert_int_equal(seen->views[0].count, 1);
	assert_int_equal(seen->views[0].bytes, 512);
	assert_int_equal(seen->views[0].total, 20000);
	assert_int_equal(seen->bucket_sums[0], 1);
	assert_int_equal(seen->views[1].total, 300);
}

static void two_rows_that_share_a_histogram_send_it_once(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_blockio_row other = fixture->row;
	struct blockio_sent other_sent = {0};

	complete(fixture, 4096, 30000, 0);
	other.count = 1;
	fixture->histogram.device_time[pkbpf_histogram_index(7)]++;
	assert_int_equal(drain(fixture)->bucket_sums[0], 2);
	assert_int_equal(blockio_records_of_row(&other, &other_sent, &fixture->histogram,
						&fixture->sent_histogram, &fixture->buffer),
			 0);
	assert_int_equal(decode(fixture)->bucket_sums[0], 0);
}

static void requests_of_a_lower_device_have_measures_of_their_own(void **state)
{
	struct fixture *fixture = *state;
	struct seen *seen;

	fixture->row.key.lower = 1;
	complete(fixture, 4096, 30000, 100);
	seen = drain(fixture);
	assert_int_equal(seen->views[0].measure, PKBPF_BLOCKIO_LOWER_DEVICE_TIME);
	assert_int_equal(seen->views[1].measure, PKBPF_BLOCKIO_LOWER_QUEUE_TIME);
}

static void a_row_without_a_histogram_still_counts(void **state)
{
	struct fixture *fixture = *state;

	complete(fixture, 4096, 30000, 0);
	assert_int_equal(
		blockio_records_of_row(&fixture->row, &fixture->sent, NULL, NULL, &fixture->buffer),
		0);
	assert_int_equal(decode(fixture)->views[0].count, 1);
	assert_int_equal(fixture->seen.bucket_sums[0], 0);
}

static void a_request_under_way_counts_its_time_so_far_and_no_bytes(void **state)
{
	struct fixture *fixture = *state;
	struct pkbpf_blockio_request request = {.issue_ns = 400, .bytes = 512};
	struct seen *seen;

	assert_int_equal(blockio_record_of_request(&fixture->row, &request, 1000, &fixture->buffer),
			 0);
	request = (struct pkbpf_blockio_request){.insert_ns = 900};
	assert_int_equal(blockio_record_of_request(&fixture->row, &request, 1000, &fixture->buffer),
			 0);
	seen = decode(fixture);
	assert_int_equal(seen->count, 2);
	assert_true(seen->views[0].open);
	assert_int_equal(seen->views[0].count, 1);
	assert_int_equal(seen->views[0].total, 600);
	assert_int_equal(seen->views[0].bytes, 0);
	assert_int_equal(seen->views[1].total, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_row_becomes_device_time_with_its_stack_and_queue_time_without),
		TEST(nothing_new_makes_no_record),
		TEST(increments_of_two_drains_add_up),
		TEST(two_rows_that_share_a_histogram_send_it_once),
		TEST(requests_of_a_lower_device_have_measures_of_their_own),
		TEST(a_row_without_a_histogram_still_counts),
		TEST(a_request_under_way_counts_its_time_so_far_and_no_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
