// SPDX-License-Identifier: BSD-2-Clause
// Tests that samples become frames of the mapping their process had at that moment.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake_profile.h"
#include "profile/stack_end.h"

#define SERVER "/usr/bin/server"
#define LIBC   "/usr/lib/libc.so.6"

struct fixture {
	struct fake_machine *machine;
	struct fake_profile fake;
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture.machine = fake_machine_new();
	fake_profile_init(&fixture.fake, NULL);
	fake_process(fixture.machine, 100, 1, "server");
	fake_map(fixture.machine, 100, 0x400000, 0x500000, 0x1000, SERVER);
	fake_map(fixture.machine, 100, 0x7f0000000000, 0x7f0000100000, 0x22000, LIBC);
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

static void options_set(struct fixture *fixture, struct aggregator_options options)
{
	fake_profile_done(&fixture->fake);
	fake_profile_init(&fixture->fake, &options);
}

static void play(struct fixture *fixture)
{
	struct event_sink sink = aggregator_sink(fixture->fake.aggregator);

	fake_play_new(fixture->machine, &sink);
}

static const struct profile_row *row_at(struct fixture *fixture, size_t index)
{
	size_t count;
	const struct profile_row *rows = profile_rows(fixture->fake.profile, &count);

	assert_true(index < count);
	return &rows[index];
}

static size_t row_count(struct fixture *fixture)
{
	size_t count;

	profile_rows(fixture->fake.profile, &count);
	return count;
}

/* Location of frame `depth` (leaf 0) of row `row`. */
static const struct frame_location *location_at(struct fixture *fixture, size_t row, size_t depth)
{
	size_t count;
	const uint32_t *frames = profile_stack(fixture->fake.profile, row_at(fixture, row)->stack, &count);

	assert_true(depth < count);
	return &profile_frame(fixture->fake.profile, frames[depth])->location;
}

static size_t depth_of(struct fixture *fixture, size_t row)
{
	size_t count;

	profile_stack(fixture->fake.profile, row_at(fixture, row)->stack, &count);
	return count;
}

static const char *path_at(struct fixture *fixture, size_t row, size_t depth)
{
	const struct frame_location *location = location_at(fixture, row, depth);

	assert_int_equal(location->space, FRAME_FILE);
	return mapped_file_table_get(fixture->fake.files, location->object)->path;
}

static struct sample_view user_sample(uint32_t pid, struct fake_ips user, enum pkbpf_stack_end end)
{
	return (struct sample_view){
		.pid = pid, .tid = pid, .user_end = end, .count = 1, .weight = 1,
		.user_ips = user.items, .user_count = user.count,
	};
}

static void file_addresses_are_offsets_in_the_file(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123, 0x7f0000000456));
	play(fixture);
	assert_int_equal(row_count(fixture), 1);
	assert_string_equal(path_at(fixture, 0, 0), SERVER);
	assert_int_equal(location_at(fixture, 0, 0)->address, 0x123 + 0x1000);
	assert_string_equal(path_at(fixture, 0, 1), LIBC);
	assert_int_equal(location_at(fixture, 0, 1)->address, 0x456 + 0x22000);
}

static void only_the_interrupted_leaf_is_no_return_address(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123, 0x400456, 0x400789));
	play(fixture);
	assert_false(location_at(fixture, 0, 0)->is_return_address);
	assert_true(location_at(fixture, 0, 1)->is_return_address);
	assert_true(location_at(fixture, 0, 2)->is_return_address);
}

static void user_leaf_below_kernel_frames_is_a_return_address(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(0xffffffff81000010, 0xffffffff81000020),
		    FAKE_IPS(0x400123, 0x400456));
	play(fixture);
	assert_int_equal(depth_of(fixture, 0), 4);
	assert_int_equal(location_at(fixture, 0, 0)->space, FRAME_KERNEL);
	assert_int_equal(location_at(fixture, 0, 0)->address, 0xffffffff81000010);
	assert_false(location_at(fixture, 0, 0)->is_return_address);
	assert_true(location_at(fixture, 0, 1)->is_return_address);
	assert_int_equal(location_at(fixture, 0, 2)->space, FRAME_FILE);
	assert_true(location_at(fixture, 0, 2)->is_return_address);
}

static void user_leaf_of_a_page_fault_is_the_faulting_instruction(void **state)
{
	struct fixture *fixture = *state;
	struct sample_view sample = user_sample(100, FAKE_IPS(0x400123), PKBPF_END_ROOT);

	sample.kind = PKBPF_PROFILE_FAULTS;
	fake_sample_view(fixture->machine, &sample);
	play(fixture);
	assert_false(location_at(fixture, 0, 0)->is_return_address);
}

static void user_code_that_an_interrupt_took_into_the_kernel_is_at_its_next_instruction(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t kernel[] = {0xffffffff81000010};
	struct sample_view sample = user_sample(100, FAKE_IPS(0x400123), PKBPF_END_ROOT);

	sample.kernel_ips = kernel;
	sample.kernel_count = 1;
	fake_sample_view(fixture->machine, &sample);
	play(fixture);
	assert_int_equal(location_at(fixture, 0, 0)->space, FRAME_KERNEL);
	assert_false(location_at(fixture, 0, 1)->is_return_address);
}

static void page_fault_in_a_system_call_leaves_the_user_leaf_a_return_address(void **state)
{
	struct fixture *fixture = *state;
	struct sample_view sample = user_sample(100, FAKE_IPS(0x400123), PKBPF_END_ROOT);

	sample.kind = PKBPF_PROFILE_FAULTS;
	sample.after_syscall = true;
	fake_sample_view(fixture->machine, &sample);
	play(fixture);
	assert_true(location_at(fixture, 0, 0)->is_return_address);
}

static void a_call_at_the_end_of_a_mapping_belongs_to_it(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123, 0x500000));
	play(fixture);
	assert_string_equal(path_at(fixture, 0, 1), SERVER);
	assert_int_equal(location_at(fixture, 0, 1)->address, 0x101000);
}

static void anonymous_code_belongs_to_its_process(void **state)
{
	struct fixture *fixture = *state;

	fake_map(fixture->machine, 100, 0x900000, 0x910000, 0, "//anon");
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x900040, 0x400456));
	play(fixture);
	assert_int_equal(location_at(fixture, 0, 0)->space, FRAME_ANONYMOUS);
	assert_int_equal(location_at(fixture, 0, 0)->address, 0x900040);
	assert_int_equal(location_at(fixture, 0, 0)->object, row_at(fixture, 0)->process);
}

static void anonymous_memory_that_is_no_code_counts_as_unmapped(void **state)
{
	struct fixture *fixture = *state;
	struct mapping_view data = {
		.pid = 100, .start = 0x900000, .end = 0x910000, .protection = 3, .path = "//anon",
	};

	fake_map_view(fixture->machine, &data);
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x900040));
	play(fixture);
	assert_int_equal(location_at(fixture, 0, 0)->space, FRAME_UNMAPPED);
}

static void a_new_mapping_counts_from_its_moment_on(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123));
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0, "/usr/bin/other");
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123));
	play(fixture);
	assert_int_equal(row_count(fixture), 2);
	assert_string_equal(path_at(fixture, 0, 0), SERVER);
	assert_string_equal(path_at(fixture, 1, 0), "/usr/bin/other");
}

static void frames_of_the_stack_before_are_those_of_the_new_mapping(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123, 0x400456, 0x7f0000000456));
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0, "/usr/bin/other");
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123, 0x400456, 0x7f0000000456));
	play(fixture);
	assert_int_equal(row_count(fixture), 2);
	assert_string_equal(path_at(fixture, 0, 1), SERVER);
	assert_string_equal(path_at(fixture, 1, 1), "/usr/bin/other");
	assert_string_equal(path_at(fixture, 1, 2), LIBC);
}

static void stacks_that_share_outer_frames_keep_their_own_inner_ones(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t text = 0x1000 - 0x400000; /* from address to place in the file */

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400010, 0x400020, 0x400030, 0x400040));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400050, 0x400060, 0x400070, 0x400030, 0x400040));
	/* The leaf of one was a caller in the stack before, and the other way round. */
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400030, 0x400040));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400020, 0x400030, 0x400040));
	play(fixture);
	assert_int_equal(row_count(fixture), 4);
	assert_int_equal(depth_of(fixture, 1), 5);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(location_at(fixture, 1, i)->address, text + 0x400050 + 0x10 * i);
	assert_int_equal(location_at(fixture, 1, 3)->address, text + 0x400030);
	assert_int_equal(location_at(fixture, 1, 4)->address, text + 0x400040);
	assert_int_equal(location_at(fixture, 2, 0)->address, text + 0x400030);
	assert_false(location_at(fixture, 2, 0)->is_return_address);
	assert_true(location_at(fixture, 2, 1)->is_return_address);
	assert_int_equal(depth_of(fixture, 3), 3);
	assert_true(location_at(fixture, 3, 1)->is_return_address);
}

static void processes_with_the_same_addresses_are_told_apart(void **state)
{
	struct fixture *fixture = *state;

	fake_process(fixture->machine, 200, 1, "other");
	fake_map(fixture->machine, 200, 0x400000, 0x500000, 0, "/usr/bin/other");
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123, 0x400456));
	fake_sample(fixture->machine, 200, 200, FAKE_IPS(), FAKE_IPS(0x400123, 0x400456));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123, 0x400456));
	play(fixture);
	assert_int_equal(row_count(fixture), 2);
	assert_string_equal(path_at(fixture, 0, 1), SERVER);
	assert_string_equal(path_at(fixture, 1, 1), "/usr/bin/other");
}

/* The cache has no room for the top bit of an address. */
static void addresses_that_differ_in_the_top_bit_are_told_apart(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned int round = 0; round < 2; round++) {
		fake_sample(fixture->machine, 100, 100, FAKE_IPS(0x8000000000400123), FAKE_IPS(0x400123));
		fake_sample(fixture->machine, 100, 100, FAKE_IPS(0x400123), FAKE_IPS(0x8000000000400123));
	}
	play(fixture);
	assert_int_equal(row_count(fixture), 2);
	assert_int_equal(location_at(fixture, 0, 0)->address, 0x8000000000400123);
	assert_string_equal(path_at(fixture, 0, 1), SERVER);
	assert_int_equal(location_at(fixture, 1, 0)->address, 0x400123);
	assert_int_equal(location_at(fixture, 1, 1)->space, FRAME_UNMAPPED);
	assert_int_equal(location_at(fixture, 1, 1)->address, 0x8000000000400123);
}

static void an_exec_leaves_no_frame_of_the_old_image_behind(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123));
	fake_exec(fixture->machine, 100, "next");
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123));
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0, "/usr/bin/next");
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123));
	play(fixture);
	assert_int_equal(row_count(fixture), 3);
	assert_int_not_equal(row_at(fixture, 0)->process, row_at(fixture, 1)->process);
	assert_int_equal(row_at(fixture, 1)->process, row_at(fixture, 2)->process);
	assert_int_equal(location_at(fixture, 1, 0)->space, FRAME_UNMAPPED);
	assert_string_equal(path_at(fixture, 2, 0), "/usr/bin/next");
}

static void two_processes_share_frames_of_one_file(void **state)
{
	struct fixture *fixture = *state;

	fake_process(fixture->machine, 200, 1, "worker");
	fake_map(fixture->machine, 200, 0x10000000, 0x10100000, 0x1000, SERVER);
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123));
	fake_sample(fixture->machine, 200, 200, FAKE_IPS(), FAKE_IPS(0x10000123));
	play(fixture);
	assert_int_equal(row_count(fixture), 2);
	assert_int_equal(row_at(fixture, 0)->stack, row_at(fixture, 1)->stack);
	assert_int_equal(profile_frame_count(fixture->fake.profile), 1);
}

static void equal_samples_add_up_in_one_row(void **state)
{
	struct fixture *fixture = *state;
	struct sample_view sample = user_sample(100, FAKE_IPS(0x400123, 0x400456), PKBPF_END_ROOT);

	fake_sample_view(fixture->machine, &sample);
	sample.count = 3;
	sample.weight = 40;
	fake_sample_view(fixture->machine, &sample);
	play(fixture);
	assert_int_equal(row_count(fixture), 1);
	assert_int_equal(row_at(fixture, 0)->count, 4);
	assert_int_equal(row_at(fixture, 0)->weight, 41);
	assert_int_equal(profile_account(fixture->fake.profile).recorded, 4);
}

static void a_row_carries_the_comm_of_the_thread(void **state)
{
	struct fixture *fixture = *state;
	struct sample_view sample = user_sample(100, FAKE_IPS(0x400123), PKBPF_END_ROOT);

	sample.tid = 101;
	snprintf(sample.comm, sizeof(sample.comm), "io thread");
	fake_sample_view(fixture->machine, &sample);
	play(fixture);
	assert_string_equal(profile_string(fixture->fake.profile, row_at(fixture, 0)->comm), "io thread");
	assert_int_equal(row_at(fixture, 0)->tid, PROFILE_NO_THREAD);
}

static void threads_stay_apart_when_asked(void **state)
{
	struct fixture *fixture = *state;

	options_set(fixture, (struct aggregator_options){
				     .per_thread = true, .want_user = true, .want_kernel = true});
	fake_thread(fixture->machine, 100, 101);
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123));
	fake_sample(fixture->machine, 100, 101, FAKE_IPS(), FAKE_IPS(0x400123));
	play(fixture);
	assert_int_equal(row_count(fixture), 2);
	assert_int_equal(row_at(fixture, 0)->tid, 100);
	assert_int_equal(row_at(fixture, 1)->tid, 101);
}

static void kernel_frames_are_left_out_when_not_wanted(void **state)
{
	struct fixture *fixture = *state;

	options_set(fixture, (struct aggregator_options){.want_user = true});
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(0xffffffff81000010), FAKE_IPS(0x400123));
	play(fixture);
	assert_int_equal(depth_of(fixture, 0), 1);
	assert_int_equal(location_at(fixture, 0, 0)->space, FRAME_FILE);
}

static void user_frames_and_their_end_are_left_out_when_not_wanted(void **state)
{
	struct fixture *fixture = *state;
	struct sample_view sample = user_sample(100, FAKE_IPS(0x400123), PKBPF_END_NO_RULE);
	const uint64_t kernel[] = {0xffffffff81000010};

	options_set(fixture, (struct aggregator_options){.want_kernel = true});
	sample.kernel_ips = kernel;
	sample.kernel_count = 1;
	fake_sample_view(fixture->machine, &sample);
	play(fixture);
	assert_int_equal(depth_of(fixture, 0), 1);
	assert_int_equal(location_at(fixture, 0, 0)->space, FRAME_KERNEL);
	assert_int_equal(profile_end_count(fixture->fake.profile, UINT32_MAX, PKBPF_END_NO_RULE), 0);
}

static void every_incomplete_end_leaves_a_frame_at_the_root(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned int end = 0; end < PKBPF_END_COUNT; end++) {
		struct sample_view sample = user_sample(100, FAKE_IPS(0x400123, 0x400456), end);

		/* Told apart by the state, so that each is a row of its own. */
		sample.state = (uint8_t)end;
		fake_sample_view(fixture->machine, &sample);
	}
	play(fixture);
	assert_int_equal(row_count(fixture), PKBPF_END_COUNT);
	for (unsigned int end = 0; end < PKBPF_END_COUNT; end++) {
		bool cut = end > PKBPF_END_UNVERIFIED;

		assert_int_equal(depth_of(fixture, end), cut ? 3 : 2);
		assert_int_equal(profile_end_count(fixture->fake.profile, UINT32_MAX, end), 1);
		if (!cut)
			continue;
		assert_int_equal(location_at(fixture, end, 2)->space, FRAME_TRUNCATED);
		assert_int_equal(location_at(fixture, end, 2)->address, end);
	}
}

static void garbage_of_a_frame_pointer_walk_is_dropped_and_said(void **state)
{
	struct fixture *fixture = *state;
	struct sample_view sample = user_sample(
		100, FAKE_IPS(0x400123, 0x6f77206f6c6c6548, 0x400456, 0x2021646c72, 0x1),
		PKBPF_END_UNVERIFIED);

	fake_sample_view(fixture->machine, &sample);
	play(fixture);
	assert_int_equal(depth_of(fixture, 0), 4);
	assert_int_equal(location_at(fixture, 0, 1)->space, FRAME_UNMAPPED);
	assert_string_equal(path_at(fixture, 0, 2), SERVER);
	assert_int_equal(location_at(fixture, 0, 3)->space, FRAME_TRUNCATED);
	assert_int_equal(location_at(fixture, 0, 3)->address, PKBPF_END_UNVERIFIED);
}

static void the_leaf_of_a_frame_pointer_walk_is_never_garbage(void **state)
{
	struct fixture *fixture = *state;
	struct sample_view sample = user_sample(100, FAKE_IPS(0x7777, 0x8888), PKBPF_END_UNVERIFIED);

	fake_sample_view(fixture->machine, &sample);
	play(fixture);
	assert_int_equal(depth_of(fixture, 0), 2);
	assert_int_equal(location_at(fixture, 0, 0)->address, 0x7777);
	assert_int_equal(location_at(fixture, 0, 1)->space, FRAME_TRUNCATED);
}

static void nothing_is_garbage_in_a_process_without_known_mappings(void **state)
{
	struct fixture *fixture = *state;
	struct sample_view sample = user_sample(300, FAKE_IPS(0x7777, 0x8888), PKBPF_END_UNVERIFIED);

	snprintf(sample.comm, sizeof(sample.comm), "stranger");
	fake_sample_view(fixture->machine, &sample);
	play(fixture);
	assert_int_equal(depth_of(fixture, 0), 2);
	assert_int_equal(location_at(fixture, 0, 1)->space, FRAME_UNMAPPED);
}

static void lost_records_reach_the_account(void **state)
{
	struct fixture *fixture = *state;
	struct profile_account account;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400123));
	fake_lost(fixture->machine, PKBPF_COUNTER_LOST_RING_FULL, 5);
	fake_lost(fixture->machine, PKBPF_COUNTER_LOST_SIDEBAND, 7);
	play(fixture);
	profile_info(fixture->fake.profile)->counters[PKBPF_COUNTER_CPU_EXPECTED] = 6;
	account = profile_account(fixture->fake.profile);
	assert_int_equal(account.expected, 6);
	assert_int_equal(account.recorded, 1);
	/* Side-band records are no samples. */
	assert_int_equal(account.lost, 5);
}

static void a_raw_stack_nobody_unwound_is_counted_with_its_reason(void **state)
{
	struct fixture *fixture = *state;
	struct event_sink sink = aggregator_sink(fixture->fake.aggregator);
	struct raw_stack_view raw = {
		.sample = {.pid = 100, .tid = 100, .count = 1, .weight = 1,
			   .user_end = PKBPF_END_NO_TABLE},
	};

	sink.ops->on_raw_stack(sink.context, &raw);
	assert_int_equal(depth_of(fixture, 0), 1);
	assert_int_equal(location_at(fixture, 0, 0)->space, FRAME_TRUNCATED);
	assert_int_equal(profile_account(fixture->fake.profile).recorded, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(file_addresses_are_offsets_in_the_file),
		TEST(only_the_interrupted_leaf_is_no_return_address),
		TEST(user_leaf_below_kernel_frames_is_a_return_address),
		TEST(user_leaf_of_a_page_fault_is_the_faulting_instruction),
		TEST(user_code_that_an_interrupt_took_into_the_kernel_is_at_its_next_instruction),
		TEST(page_fault_in_a_system_call_leaves_the_user_leaf_a_return_address),
		TEST(a_call_at_the_end_of_a_mapping_belongs_to_it),
		TEST(anonymous_code_belongs_to_its_process),
		TEST(anonymous_memory_that_is_no_code_counts_as_unmapped),
		TEST(a_new_mapping_counts_from_its_moment_on),
		TEST(frames_of_the_stack_before_are_those_of_the_new_mapping),
		TEST(stacks_that_share_outer_frames_keep_their_own_inner_ones),
		TEST(processes_with_the_same_addresses_are_told_apart),
		TEST(addresses_that_differ_in_the_top_bit_are_told_apart),
		TEST(an_exec_leaves_no_frame_of_the_old_image_behind),
		TEST(two_processes_share_frames_of_one_file),
		TEST(equal_samples_add_up_in_one_row),
		TEST(a_row_carries_the_comm_of_the_thread),
		TEST(threads_stay_apart_when_asked),
		TEST(kernel_frames_are_left_out_when_not_wanted),
		TEST(user_frames_and_their_end_are_left_out_when_not_wanted),
		TEST(every_incomplete_end_leaves_a_frame_at_the_root),
		TEST(garbage_of_a_frame_pointer_walk_is_dropped_and_said),
		TEST(the_leaf_of_a_frame_pointer_walk_is_never_garbage),
		TEST(nothing_is_garbage_in_a_process_without_known_mappings),
		TEST(lost_records_reach_the_account),
		TEST(a_raw_stack_nobody_unwound_is_counted_with_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
