// SPDX-License-Identifier: BSD-2-Clause
/* Tests that slow requests become a list with their process and their stack, and that it is
 * bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/blockio.h>

#include "fake_profile.h"

#define LIMIT 3
#define STACK 77

struct fixture {
	struct fake_machine *machine;
	struct fake_profile fake;
	struct event_sink sink;
	const struct slow_io **items;
};

static int setup(void **state)
{
	static const struct aggregator_options options = {
		.want_user = true, .want_kernel = true, .slow_io_limit = LIMIT};
	static struct fixture fixture;

	fixture.machine = fake_machine_new();
	fixture.items = NULL;
	fake_profile_init(&fixture.fake, &options);
	fixture.sink = aggregator_sink(fixture.fake.aggregator);
	fake_process(fixture.machine, 100, 1, "server");
	fake_map(fixture.machine, 100, 0x400000, 0x500000, 0x1000, "/usr/bin/server");
	fake_play_new(fixture.machine, &fixture.sink);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	free(fixture->items);
	fake_machine_free(fixture->machine);
	fake_profile_done(&fixture->fake);
	return 0;
}

static void send_stack(struct fixture *fixture)
{
	static const uint64_t kernel[] = {0xffffffff81000010}, user[] = {0x400123, 0x400456};
	struct stack_view view = {
		.stack_id = STACK,
		.pid = 100,
		.user_end = PKBPF_END_ROOT,
		.kernel_ips = kernel,
		.kernel_count = 1,
		.user_ips = user,
		.user_count = 2,
	};

	fixture->sink.ops->on_stack(fixture->sink.context, &view);
}

static struct slow_io_view request(uint64_t insert_ns, uint64_t queue_ns, uint64_t device_ns)
{
	return (struct slow_io_view){
		.time_ns = insert_ns + queue_ns + device_ns,
		.insert_ns = insert_ns,
		.issue_ns = insert_ns + queue_ns,
		.stack_id = STACK,
		.cgroup_id = 9,
		.sector = 2048,
		.pid = 100,
		.tid = 101,
		.device = 8 << 20 | 1,
		.bytes = 4096,
		.state = PKBPF_BLOCKIO_WRITE | PKBPF_BLOCKIO_SYNC,
		.fua = true,
		.comm = "worker",
	};
}

static void add(struct fixture *fixture, struct slow_io_view view)
{
	fixture->sink.ops->on_slow_io(fixture->sink.context, &view);
}

static const struct slow_io **sorted(struct fixture *fixture, size_t expected)
{
	size_t count;

	free(fixture->items);
	assert_int_equal(slow_io_list_sorted(profile_slow_io(fixture->fake.profile),
					     &fixture->items, &count),
			 0);
	assert_int_equal(count, expected);
	return fixture->items;
}

static void a_request_has_its_process_its_stack_and_its_times(void **state)
{
	struct fixture *fixture = *state;
	struct profile *profile = fixture->fake.profile;
	const struct slow_io *item;
	size_t depth, rows;

	send_stack(fixture);
	add(fixture, request(1000, 20, 300));
	item = sorted(fixture, 1)[0];
	assert_int_equal(process_table_by_id(profile_processes(profile), item->process)->pid, 100);
	assert_int_equal(item->tid, 101);
	assert_string_equal(profile_string(profile, item->comm), "worker");
	assert_int_equal(item->insert_ns, 1000);
	assert_int_equal(item->queue_ns, 20);
	assert_int_equal(item->device_ns, 300);
	assert_int_equal(slow_io_total_ns(item), 320);
	assert_int_equal(item->device, 8 << 20 | 1);
	assert_int_equal(item->bytes, 4096);
	assert_int_equal(item->sector, 2048);
	assert_int_equal(item->cgroup_id, 9);
	assert_int_equal(item->state, PKBPF_BLOCKIO_WRITE | PKBPF_BLOCKIO_SYNC);
	assert_true(item->fua && !item->open && !item->failed && !item->metadata);
	profile_stack(profile, item->stack, &depth);
	assert_int_equal(depth, 3);
	/* Its weight is in the totals. */
	profile_rows(profile, &rows);
	assert_int_equal(rows, 0);
}

static void the_slowest_stay_in_order(void **state)
{
	static const uint64_t queue[] = {5, 0, 300, 40, 1, 60}, device[] = {10, 200, 3, 400, 9, 0};
	const struct slow_io **items;

	for (size_t i = 0; i < sizeof(queue) / sizeof(queue[0]); i++)
		add(*state, request(1000 * (i + 1), queue[i], device[i]));
	items = sorted(*state, LIMIT);
	assert_int_equal(items[0]->insert_ns, 4000);
	assert_int_equal(items[1]->insert_ns, 3000);
	assert_int_equal(items[2]->insert_ns, 2000);
}

static void of_equally_slow_ones_the_earlier_is_first(void **state)
{
	const struct slow_io **items;

	add(*state, request(3000, 5, 5));
	add(*state, request(2000, 5, 5));
	items = sorted(*state, 2);
	assert_int_equal(items[0]->insert_ns, 2000);
}

static void what_was_not_issued_waited_in_the_queue(void **state)
{
	struct slow_io_view view = request(1000, 20, 300);
	const struct slow_io *item;

	view.open = true;
	view.issue_ns = 0;
	add(*state, view);
	item = sorted(*state, 1)[0];
	assert_true(item->open);
	assert_int_equal(item->queue_ns, 320);
	assert_int_equal(item->device_ns, 0);
}

static void a_stack_that_never_arrived_leaves_the_request(void **state)
{
	struct fixture *fixture = *state;
	size_t depth;

	add(fixture, request(1000, 20, 300));
	profile_stack(fixture->fake.profile, sorted(fixture, 1)[0]->stack, &depth);
	assert_int_equal(depth, 0);
	/* Its totals say so already. */
	assert_int_equal(profile_info(fixture->fake.profile)->counters[PKBPF_COUNTER_STACK_UNKNOWN],
			 0);
}

static void write_back_is_no_thread_s(void **state)
{
	struct slow_io_view view = request(1000, 20, 300);

	view.pid = view.tid = PKBPF_PID_WRITEBACK | 9;
	add(*state, view);
	assert_int_equal(sorted(*state, 1)[0]->tid, 0);
}

static void nothing_is_kept_when_nobody_asks(void **state)
{
	struct fixture *fixture = *state;

	fake_profile_done(&fixture->fake);
	fake_profile_init(&fixture->fake, &(struct aggregator_options){.want_user = true});
	fixture->sink = aggregator_sink(fixture->fake.aggregator);
	add(fixture, request(1000, 20, 300));
	sorted(fixture, 0);
	assert_int_equal(profile_info(fixture->fake.profile)->counters[PKBPF_COUNTER_SLOW_IO_LOST],
			 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_has_its_process_its_stack_and_its_times),
		TEST(the_slowest_stay_in_order),
		TEST(of_equally_slow_ones_the_earlier_is_first),
		TEST(what_was_not_issued_waited_in_the_queue),
		TEST(a_stack_that_never_arrived_leaves_the_request),
		TEST(write_back_is_no_thread_s),
		TEST(nothing_is_kept_when_nobody_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
