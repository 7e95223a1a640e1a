// SPDX-License-Identifier: BSD-2-Clause
// Tests which samples share a row, and what becomes of stacks that are cut, not wanted or lost.
#include <stdio.h>

#include "aggregator_fixture.h"
#include "profile/own_code.h"

static void options_set(struct fixture *fixture, struct aggregator_options options)
{
	fake_profile_done(&fixture->fake);
	fake_profile_init(&fixture->fake, &options);
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
	assert_string_equal(profile_string(fixture->fake.profile, row_at(fixture, 0)->comm),
			    "io thread");
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
	assert_int_equal(profile_end_count(fixture->fake.profile, UINT32_MAX, PKBPF_END_NO_RULE),
			 0);
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
		bool cut = end > PKBPF_END_UNVERIFIED && end != PKBPF_END_GUESSED,
		     guessed = end == PKBPF_END_ZERO_RA || end == PKBPF_END_FP_ROOT;

		assert_int_equal(depth_of(fixture, end), cut ? 3 : 2);
		/* With the guessed one these are three. */
		assert_int_equal(profile_end_count(fixture->fake.profile, UINT32_MAX, end),
				 guessed		    ? 0
				 : end == PKBPF_END_GUESSED ? 3
							    : 1);
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
	struct sample_view sample =
		user_sample(100, FAKE_IPS(0x7777, 0x8888), PKBPF_END_UNVERIFIED);

	fake_sample_view(fixture->machine, &sample);
	play(fixture);
	assert_int_equal(depth_of(fixture, 0), 2);
	assert_int_equal(location_at(fixture, 0, 0)->address, 0x7777);
	assert_int_equal(location_at(fixture, 0, 1)->space, FRAME_TRUNCATED);
}

static void nothing_is_garbage_in_a_process_without_known_mappings(void **state)
{
	struct fixture *fixture = *state;
	struct sample_view sample =
		user_sample(300, FAKE_IPS(0x7777, 0x8888), PKBPF_END_UNVERIFIED);

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
		.sample = {.pid = 100,
			   .tid = 100,
			   .count = 1,
			   .weight = 1,
			   .user_end = PKBPF_END_NO_TABLE},
	};

	sink.ops->on_raw_stack(sink.context, &raw);
	assert_int_equal(depth_of(fixture, 0), 1);
	assert_int_equal(location_at(fixture, 0, 0)->space, FRAME_TRUNCATED);
	assert_int_equal(profile_account(fixture->fake.profile).recorded, 1);
}

static const struct frame *frame_at(struct fixture *fixture, size_t depth)
{
	size_t count;
	const uint32_t *frames =
		profile_stack(fixture->fake.profile, row_at(fixture, 0)->stack, &count);

	assert_true(depth < count);
	return profile_frame(fixture->fake.profile, frames[depth]);
}

/* A helper that a subprogram of ours called, and what ran our program. */
static void kernel_frames_up_to_our_own_program_are_one(void **state)
{
	static const uint64_t kernel[] = {0xffffffff81000100, 0xffffffffc0002010,
					  0xffffffffc0001020, 0xffffffff81000200};
	struct fixture *fixture = *state;
	struct own_code own = {0};
	struct sample_view sample = user_sample(100, FAKE_IPS(0x400123), PKBPF_END_ROOT);

	assert_int_equal(own_code_add(&own, 0xffffffffc0002000, 0x100), 0);
	assert_int_equal(own_code_add(&own, 0xffffffffc0001000, 0x100), 0);
	options_set(fixture, (struct aggregator_options){
				     .want_user = true, .want_kernel = true, .own_code = &own});
	sample.kernel_ips = kernel;
	sample.kernel_count = 4;
	fake_sample_view(fixture->machine, &sample);
	play(fixture);
	assert_int_equal(depth_of(fixture, 0), 3);
	assert_string_equal(frame_at(fixture, 0)->symbol.lines[0].function, "[pkbpf]");
	assert_int_equal(location_at(fixture, 0, 1)->address, 0xffffffff81000200);
	own_code_done(&own);
}

static void spans_of_code_end_before_their_end(void **state)
{
	struct own_code own = {0};

	assert_false(own_code_has(&own, 5));
	assert_int_equal(own_code_add(&own, 300, 10), 0);
	assert_int_equal(own_code_add(&own, 100, 10), 0);
	assert_int_equal(own_code_add(&own, 200, 10), 0);
	assert_false(own_code_has(&own, 99));
	assert_true(own_code_has(&own, 100));
	assert_true(own_code_has(&own, 109));
	assert_false(own_code_has(&own, 110));
	assert_true(own_code_has(&own, 205));
	assert_true(own_code_has(&own, 309));
	assert_false(own_code_has(&own, 310));
	own_code_done(&own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		TEST(kernel_frames_up_to_our_own_program_are_one),
		cmocka_unit_test(spans_of_code_end_before_their_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
