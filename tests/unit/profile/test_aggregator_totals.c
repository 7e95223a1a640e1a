// SPDX-License-Identifier: BSD-2-Clause
/* Tests that totals added up in the kernel find their stack, their process and their
 * distribution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "event/decoder.h"
#include "event/peer_event.h"
#include "fake_profile.h"
#include "profile/account/message_counts.h"

#define SERVER "/usr/bin/server"

struct fixture {
	struct fake_machine *machine;
	struct fake_profile fake;
	struct event_sink sink;
};

static void begin(struct fixture *fixture, const struct aggregator_options *options)
{
	fake_profile_init(&fixture->fake, options);
	fixture->sink = aggregator_sink(fixture->fake.aggregator);
}

static int setup(void **state)
{
	static struct fixture fixture;

	fixture.machine = fake_machine_new();
	begin(&fixture, NULL);
	fake_process(fixture.machine, 100, 1, "server");
	fake_map(fixture.machine, 100, 0x400000, 0x500000, 0x1000, SERVER);
	fake_play_new(fixture.machine, &fixture.sink);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	fake_machine_free(fixture->machine);
	fake_profile_done(&fixture->fake);
	return 0;
}

static void stack(struct fixture *fixture, uint64_t id, struct fake_ips kernel,
		  struct fake_ips user)
{
	struct stack_view view = {
		.stack_id = id,
		.pid = 100,
		.after_syscall = kernel.count > 0,
		.user_end = user.count ? PKBPF_END_ROOT : PKBPF_END_NONE,
		.kernel_ips = kernel.items,
		.kernel_count = kernel.count,
		.user_ips = user.items,
		.user_count = user.count,
	};

	fixture->sink.ops->on_stack(fixture->sink.context, &view);
}

static void totals(struct fixture *fixture, uint64_t id, uint8_t state, uint8_t measure,
		   uint64_t count, uint64_t total, uint64_t max)
{
	struct pkbpf_histogram_bucket bucket = {.index = 20, .count = (uint32_t)count};
	struct totals_view view = {
		.stack_id = id,
		.pid = 100,
		.tid = 101,
		.kind = PKBPF_PROFILE_OFFCPU,
		.state = state,
		.measure = measure,
		.comm = "worker",
		.count = count,
		.total = total,
		.max = max,
		.buckets = &bucket,
		.bucket_count = 1,
	};

	fixture->sink.ops->on_totals(fixture->sink.context, &view);
}

static const struct profile_row *rows(struct fixture *fixture, size_t expected)
{
	size_t count;
	const struct profile_row *items = profile_rows(fixture->fake.profile, &count);

	assert_int_equal(count, expected);
	return items;
}

static void totals_add_to_the_stack_sent_before(void **state)
{
	const struct profile_row *row;
	const struct frame_location *location;
	const uint32_t *frames;
	size_t depth;

	stack(*state, 77, FAKE_IPS(0xffffffff81000010), FAKE_IPS(0x400123, 0x400456));
	totals(*state, 77, 1, 0, 2, 5000, 4000);
	totals(*state, 77, 1, 0, 1, 3000, 4000);
	row = rows(*state, 1);
	assert_int_equal(row->count, 3);
	assert_int_equal(row->weight, 8000);
	assert_int_equal(row->max, 4000);
	assert_int_equal(row->state, 1);
	assert_string_equal(profile_string(((struct fixture *)*state)->fake.profile, row->comm),
			    "worker");
	frames = profile_stack(((struct fixture *)*state)->fake.profile, row->stack, &depth);
	assert_int_equal(depth, 3);
	location = &profile_frame(((struct fixture *)*state)->fake.profile, frames[1])->location;
	assert_int_equal(location->space, FRAME_FILE);
	assert_int_equal(location->address, 0x1123);
	assert_true(location->is_return_address);
}

/* Nobody has unwound it. */
static void a_stack_with_guessed_frames_counts_as_unverified_each_time(void **state)
{
	struct fixture *fixture = *state;
	uint64_t ips[] = {0x400123, 0x400456};
	struct stack_view view = {.stack_id = 77,
				  .pid = 100,
				  .user_end = PKBPF_END_ZERO_RA,
				  .user_ips = ips,
				  .user_count = 2,
				  .guessed_count = 1};

	fixture->sink.ops->on_stack(fixture->sink.context, &view);
	totals(fixture, 77, 1, 0, 2, 5000, 4000);
	totals(fixture, 77, 1, 0, 3, 3000, 4000);
	assert_int_equal(profile_end_count(fixture->fake.profile, UINT32_MAX, PKBPF_END_GUESSED),
			 5);
	assert_int_equal(profile_end_count(fixture->fake.profile, UINT32_MAX, PKBPF_END_ZERO_RA),
			 0);
	assert_int_equal(profile_guessed_frames(fixture->fake.profile), 5);
}

static void totals_find_a_stack_that_was_copied(void **state)
{
	static const enum pkbpf_profile_kind kinds[] = {PKBPF_PROFILE_OFFCPU,
							PKBPF_PROFILE_BLOCKIO};
	static const uint64_t user[] = {0x400123, 0x400456};
	struct fixture *fixture = *state;
	size_t depth;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct raw_stack_view raw = {.sample = {.kind = kinds[i],
							.pid = 100,
							.tid = 101,
							.user_end = PKBPF_END_ROOT,
							.user_ips = user,
							.user_count = 2},
					     .stack_id = 77 + i};
		struct totals_view view = {.stack_id = 77 + i,
					   .pid = 100,
					   .tid = 101,
					   .kind = kinds[i],
					   .comm = "worker",
					   .count = 1,
					   .total = 100,
					   .max = 100};

		fixture->sink.ops->on_raw_stack(fixture->sink.context, &raw);
		assert_int_equal(
			profile_end_count(fixture->fake.profile, UINT32_MAX, PKBPF_END_ROOT), i);
		fixture->sink.ops->on_totals(fixture->sink.context, &view);
		profile_stack(fixture->fake.profile, rows(fixture, i + 1)[i].stack, &depth);
		assert_int_equal(depth, 2);
		assert_int_equal(
			profile_end_count(fixture->fake.profile, UINT32_MAX, PKBPF_END_ROOT),
			i + 1);
	}
}

static void states_of_one_stack_are_rows_of_their_own(void **state)
{
	stack(*state, 77, FAKE_IPS(), FAKE_IPS(0x400123));
	totals(*state, 77, 1, 0, 1, 100, 100);
	totals(*state, 77, 3, 0, 1, 200, 200);
	rows(*state, 2);
}

static void other_measures_are_no_weight_of_the_stack(void **state)
{
	struct distribution_key key = {
		.kind = PKBPF_PROFILE_OFFCPU, .tid = 101, .state = 1, .measure = 1};
	const struct distribution *found;

	totals(*state, 0, 1, 1, 4, 4000, 2000);
	rows(*state, 0);
	key.process =
		process_table_find(profile_processes(((struct fixture *)*state)->fake.profile), 100)
			->id;
	found = profile_distribution(((struct fixture *)*state)->fake.profile, &key);
	assert_non_null(found);
	assert_int_equal(found->total, 4000);
	assert_int_equal(found->bucket_count, 1);
	assert_int_equal(found->buckets[0].index, 20);
}

static void a_stack_that_never_arrived_is_counted_and_its_totals_are_kept(void **state)
{
	struct fixture *fixture = *state;

	totals(fixture, 99, 1, 0, 5, 100, 60);
	assert_int_equal(rows(fixture, 1)->weight, 100);
	assert_int_equal(profile_info(fixture->fake.profile)->counters[PKBPF_COUNTER_STACK_UNKNOWN],
			 5);
}

static void totals_that_come_after_exec_belong_to_the_image_that_waited(void **state)
{
	struct fixture *fixture = *state;
	uint32_t old = process_table_find(profile_processes(fixture->fake.profile), 100)->id;

	stack(fixture, 77, FAKE_IPS(), FAKE_IPS(0x400123));
	fake_exec(fixture->machine, 100, "other");
	fake_play_new(fixture->machine, &fixture->sink);
	assert_int_not_equal(process_table_find(profile_processes(fixture->fake.profile), 100)->id,
			     old);
	totals(fixture, 77, 1, 0, 1, 100, 100);
	assert_int_equal(rows(fixture, 1)->process, old);
}

static void totals_without_a_stack_find_the_process_that_had_others(void **state)
{
	struct fixture *fixture = *state;
	struct distribution_key key = {
		.kind = PKBPF_PROFILE_OFFCPU, .tid = 101, .state = 1, .measure = 1};

	key.process = process_table_find(profile_processes(fixture->fake.profile), 100)->id;
	stack(fixture, 77, FAKE_IPS(0xffffffff81000010), FAKE_IPS());
	fake_exit(fixture->machine, 100, 100);
	fake_machine_at(fixture->machine, FAKE_START_NS + 100 * PROCESS_GRACE_NS);
	fake_process(fixture->machine, 200, 1, "later");
	fake_play_new(fixture->machine, &fixture->sink);
	assert_null(process_table_find(profile_processes(fixture->fake.profile), 100));
	totals(fixture, 0, 1, 1, 5, 500, 100);
	assert_non_null(profile_distribution(fixture->fake.profile, &key));
}

/* What is only told by process, as time without a stack, has no thread's name. */
static void totals_without_a_name_have_that_of_their_process(void **state)
{
	struct fixture *fixture = *state;
	struct totals_view view = {
		.pid = 100, .kind = PKBPF_PROFILE_OFFCPU, .state = 1, .total = 500};
	const struct profile *profile = fixture->fake.profile;

	fixture->sink.ops->on_totals(fixture->sink.context, &view);
	assert_string_equal(profile_string(profile, rows(fixture, 1)->comm),
			    process_table_find(profile_processes(profile), 100)->comm);
	assert_true(process_table_find(profile_processes(profile), 100)->comm[0]);
}

static void totals_long_after_the_exit_still_find_their_process(void **state)
{
	struct fixture *fixture = *state;
	uint32_t old = process_table_find(profile_processes(fixture->fake.profile), 100)->id;

	stack(fixture, 77, FAKE_IPS(0xffffffff81000010), FAKE_IPS());
	fake_exit(fixture->machine, 100, 100);
	fake_machine_at(fixture->machine, FAKE_START_NS + 100 * PROCESS_GRACE_NS);
	fake_process(fixture->machine, 200, 1, "later");
	fake_play_new(fixture->machine, &fixture->sink);
	totals(fixture, 77, 1, 0, 1, 100, 100);
	assert_int_equal(rows(fixture, 1)->process, old);
}

/* Of a process that ran between two samples, totals are all that ever comes. */
static void totals_alone_find_the_process_that_ended(void **state)
{
	struct fixture *fixture = *state;
	const struct process *process;
	struct totals_view view = {.kind = PKBPF_PROFILE_OFFCPU,
				   .pid = 150,
				   .tid = 150,
				   .comm = "short",
				   .count = 1,
				   .total = 100,
				   .max = 100};

	fake_fork(fixture->machine, 100, 150);
	fake_exec(fixture->machine, 150, "short");
	fake_exit(fixture->machine, 150, 150);
	fake_machine_at(fixture->machine,
			fake_machine_now_ns(fixture->machine) + 5 * PROCESS_GRACE_NS);
	fake_process(fixture->machine, 200, 1, "later");
	fake_play_new(fixture->machine, &fixture->sink);
	fixture->sink.ops->on_totals(fixture->sink.context, &view);
	process = process_table_by_id(profile_processes(fixture->fake.profile),
				      rows(fixture, 1)->process);
	assert_int_equal(process->pid, 150);
	assert_string_equal(process->comm, "short");
	assert_true(process->start_ns && process->end_ns > process->start_ns);
	assert_null(process_table_find(profile_processes(fixture->fake.profile), 150));
}

static void totals_find_their_stack_after_a_merge(void **state)
{
	static const struct fake_symbol symbols[] = {
		{.space = FRAME_KERNEL,
		 .start = 0xffffffff81000000,
		 .end = 0xffffffff81000100,
		 .lines = {{.function = "schedule"}}},
		FAKE_FUNCTION(SERVER, 0x1000, 0x2000, "main"),
	};
	static const struct aggregator_options options = {
		.want_user = true, .want_kernel = true, .merge_bytes = 1, .max_bytes = 1 << 20};
	struct fixture *fixture = *state;
	struct fake_profile *fake = &fixture->fake;
	const struct profile_row *row;
	size_t depth;

	fake_profile_done(fake);
	begin(fixture, &options);
	fake_play(fixture->machine, &fixture->sink);
	fake->symbolizer = fake_symbols_new(symbols, 2, fake->processes);
	stack(fixture, 76, FAKE_IPS(0xffffffff81000010), FAKE_IPS(0x400123, 0x400456, 0x400456));
	stack(fixture, 77, FAKE_IPS(0xffffffff81000020), FAKE_IPS(0x400223, 0x400556, 0x400556));
	totals(fixture, 76, 1, 0, 2, 5000, 4000);
	assert_int_equal(aggregator_limit_memory(fake->aggregator, fake->symbolizer), 1);
	/* Not again before it has doubled. */
	assert_int_equal(aggregator_limit_memory(fake->aggregator, fake->symbolizer), 0);
	totals(fixture, 77, 1, 0, 1, 3000, 3000);
	row = rows(fixture, 1);
	assert_int_equal(row->count, 3);
	assert_int_equal(row->weight, 8000);
	profile_stack(fake->profile, row->stack, &depth);
	assert_int_equal(depth, 4);
	/* A stack of frames that were remembered before. */
	stack(fixture, 78, FAKE_IPS(0xffffffff81000020), FAKE_IPS(0x400223, 0x400556, 0x400556));
	totals(fixture, 78, 1, 0, 1, 1000, 1000);
	assert_int_equal(rows(fixture, 1)->count, 4);
	/* Places that no stack has any more go, and what comes again or is still named finds its
	 * stack. */
	assert_true(profile_frame_count(fake->profile) > 2);
	assert_true(aggregator_name_places(fake->aggregator, fake->symbolizer));
	assert_int_equal(aggregator_forget_places(fake->aggregator), 0);
	assert_int_equal(profile_frame_count(fake->profile), 2);
	totals(fixture, 76, 1, 0, 1, 1000, 1000);
	stack(fixture, 79, FAKE_IPS(0xffffffff81000020), FAKE_IPS(0x400223, 0x400556, 0x400556));
	totals(fixture, 79, 1, 0, 1, 1000, 1000);
	assert_true(aggregator_name_places(fake->aggregator, fake->symbolizer));
	assert_int_equal(aggregator_forget_places(fake->aggregator), 0);
	row = rows(fixture, 1);
	assert_int_equal(row->count, 6);
	profile_stack(fake->profile, row->stack, &depth);
	assert_int_equal(depth, 4);
}

static void stacks_that_nothing_names_for_long_are_forgotten(void **state)
{
	struct fixture *fixture = *state;
	struct fake_profile *fake = &fixture->fake;
	struct aggregator_options options = {.want_kernel = true, .max_numbered_stacks = 10};
	const uint64_t *unknown;
	int steps = 0;

	fake_profile_done(fake);
	begin(fixture, &options);
	fake_play(fixture->machine, &fixture->sink);
	unknown = &profile_info(fake->profile)->counters[PKBPF_COUNTER_STACK_UNKNOWN];
	for (uint64_t id = 1; id <= 100; id++) {
		stack(fixture, id, FAKE_IPS(0xffffffff81000010 + id), FAKE_IPS());
		/* The first is named again and again, others once. */
		totals(fixture, 1, 1, 0, 1, 10, 10);
		totals(fixture, id, 1, 0, 1, 10, 10);
		steps += aggregator_limit_memory(fake->aggregator, NULL);
	}
	assert_in_range(steps, 5, 15);
	assert_int_equal(*unknown, 0);
	totals(fixture, 1, 1, 0, 1, 10, 10);
	totals(fixture, 100, 1, 0, 1, 10, 10);
	totals(fixture, 80, 1, 0, 1, 10, 10);
	assert_int_equal(*unknown, 0);
	totals(fixture, 2, 1, 0, 3, 10, 10);
	assert_int_equal(*unknown, 3);
}

static void a_stack_that_somebody_keeps_is_not_forgotten(void **state)
{
	struct fixture *fixture = *state;
	struct fake_profile *fake = &fixture->fake;
	struct aggregator_options options = {.want_kernel = true, .max_numbered_stacks = 10};
	const uint64_t *unknown;

	fake_profile_done(fake);
	begin(fixture, &options);
	fake_play(fixture->machine, &fixture->sink);
	unknown = &profile_info(fake->profile)->counters[PKBPF_COUNTER_STACK_UNKNOWN];
	for (uint64_t id = 1; id <= 100; id++) {
		stack(fixture, id, FAKE_IPS(0xffffffff81000010 + id), FAKE_IPS());
		/* A thread has been waiting there all the time, and says so when it has waited. */
		if (aggregator_forgets_stacks(fake->aggregator))
			aggregator_keep_stack(fake->aggregator, 3);
		aggregator_keep_stack(fake->aggregator, 0);
		aggregator_keep_stack(fake->aggregator, 1000);
		aggregator_limit_memory(fake->aggregator, NULL);
	}
	totals(fixture, 3, 1, 0, 1, 10, 10);
	assert_int_equal(*unknown, 0);
	totals(fixture, 4, 1, 0, 1, 10, 10);
	assert_int_equal(*unknown, 1);
}

static void leaves_unwanted_frames_out(void **state)
{
	struct fixture *fixture = *state;
	struct aggregator_options options = {.want_user = true};
	size_t depth;

	fake_profile_done(&fixture->fake);
	begin(fixture, &options);
	stack(fixture, 77, FAKE_IPS(0xffffffff81000010, 0xffffffff81000020), FAKE_IPS(0x400123));
	totals(fixture, 77, 1, 0, 1, 100, 100);
	profile_stack(fixture->fake.profile, rows(fixture, 1)->stack, &depth);
	assert_int_equal(depth, 1);
}

static void peer(struct fixture *fixture, uint32_t number, const char *comm)
{
	struct peer_view view = {.number = number,
				 .peer = {.address = {10, 0, 0, 7},
					  .port = 5432,
					  .family = PKBPF_NETWORK_IPV4,
					  .role = PKBPF_NETWORK_CLIENT,
					  .protocol = PKBPF_NETWORK_TCP}};
	struct event_buffer buffer = {0};

	strcpy(view.comm, comm);
	assert_int_equal(peer_event_encode(&buffer, &view), 0);
	assert_true(event_decode(buffer.data, buffer.size, &fixture->sink) > 0);
	event_buffer_done(&buffer);
}

static void network(struct fixture *fixture, uint8_t measure, uint64_t count, uint64_t total,
		    uint64_t bytes)
{
	struct totals_view view = {
		.stack_id = measure == PKBPF_NETWORK_STACKS ? 77 : 0,
		.pid = 100,
		.device = 3,
		.kind = PKBPF_PROFILE_NETWORK,
		.state = PKBPF_NETWORK_SENT,
		.measure = measure,
		.comm = "server",
		.count = count,
		.total = total,
		.bytes = bytes,
	};

	fixture->sink.ops->on_totals(fixture->sink.context, &view);
}

static const struct frame *leaf(struct fixture *fixture, size_t row)
{
	size_t depth, count;
	const struct profile_row *items = profile_rows(fixture->fake.profile, &count);
	const uint32_t *frames = profile_stack(fixture->fake.profile, items[row].stack, &depth);

	return profile_frame(fixture->fake.profile, frames[0]);
}

static void a_wait_for_a_peer_ends_in_its_name(void **state)
{
	struct fixture *fixture = *state;
	struct totals_view view = {.stack_id = 77,
				   .pid = 100,
				   .device = 3,
				   .kind = PKBPF_PROFILE_OFFCPU,
				   .state = 2,
				   .comm = "worker",
				   .count = 1,
				   .total = 1000};

	peer(fixture, 3, "");
	stack(fixture, 77, FAKE_IPS(0xffffffff81000010), FAKE_IPS(0x400123));
	totals(fixture, 77, 2, 0, 1, 5000, 5000);
	fixture->sink.ops->on_totals(fixture->sink.context, &view);
	rows(fixture, 2);
	assert_int_equal(leaf(fixture, 0)->location.space, FRAME_KERNEL);
	assert_int_equal(leaf(fixture, 1)->location.space, FRAME_PEER);
	assert_string_equal(leaf(fixture, 1)->symbol.lines[0].function,
			    "[tcp 10.0.0.7:5432 (postgresql?)]");
	/* The process at the other end becomes known later. */
	peer(fixture, 4, "postgres");
	fixture->sink.ops->on_totals(fixture->sink.context, &view);
	rows(fixture, 2);
	assert_string_equal(leaf(fixture, 1)->symbol.lines[0].function,
			    "[tcp 10.0.0.7:5432 (postgres)]");
}

static void sampled_messages_are_scaled_to_the_exact_sums(void **state)
{
	struct fixture *fixture = *state;
	const struct profile_row *row;

	peer(fixture, 3, "");
	stack(fixture, 77, FAKE_IPS(0xffffffff81000010), FAKE_IPS(0x400123));
	network(fixture, PKBPF_NETWORK_MESSAGES, 1000, 1000, 123457);
	rows(fixture, 0);
	network(fixture, PKBPF_NETWORK_STACKS, 64, 6400, 0);
	network(fixture, PKBPF_NETWORK_STACKS, 32, 640, 0);
	assert_int_equal(profile_scale_messages(fixture->fake.profile), 0);
	row = rows(fixture, 1);
	assert_int_equal(row->count, 1000);
	assert_int_equal(row->weight, 123457);
}

static void messages_without_a_sample_have_a_row_without_a_stack(void **state)
{
	struct fixture *fixture = *state;
	const struct profile_row *row;
	size_t depth;

	peer(fixture, 3, "");
	network(fixture, PKBPF_NETWORK_MESSAGES, 5, 5, 500);
	assert_int_equal(profile_scale_messages(fixture->fake.profile), 0);
	row = rows(fixture, 1);
	assert_int_equal(row->count, 5);
	assert_int_equal(row->weight, 500);
	profile_stack(fixture->fake.profile, row->stack, &depth);
	assert_int_equal(depth, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(totals_add_to_the_stack_sent_before),
		TEST(a_stack_with_guessed_frames_counts_as_unverified_each_time),
		TEST(totals_find_a_stack_that_was_copied),
		TEST(states_of_one_stack_are_rows_of_their_own),
		TEST(other_measures_are_no_weight_of_the_stack),
		TEST(a_stack_that_never_arrived_is_counted_and_its_totals_are_kept),
		TEST(totals_that_come_after_exec_belong_to_the_image_that_waited),
		TEST(totals_without_a_name_have_that_of_their_process),
		TEST(totals_long_after_the_exit_still_find_their_process),
		TEST(totals_without_a_stack_find_the_process_that_had_others),
		TEST(totals_alone_find_the_process_that_ended),
		TEST(totals_find_their_stack_after_a_merge),
		TEST(a_stack_that_somebody_keeps_is_not_forgotten),
		TEST(stacks_that_nothing_names_for_long_are_forgotten),
		TEST(leaves_unwanted_frames_out),
		TEST(a_wait_for_a_peer_ends_in_its_name),
		TEST(sampled_messages_are_scaled_to_the_exact_sums),
		TEST(messages_without_a_sample_have_a_row_without_a_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
