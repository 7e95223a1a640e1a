// SPDX-License-Identifier: BSD-2-Clause
// Tests that samples become frames of the mapping their process had at that moment.
#include "aggregator_fixture.h"

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

static void what_a_signal_has_interrupted_is_no_return_address(void **state)
{
	struct fixture *fixture = *state;

	/* Nor is the trampoline before it. The last stack has a return address at the place that
	 * the signal has interrupted. */
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(),
		    FAKE_IPS(0x400123, 0x400456, 0x400789 | PKBPF_INTERRUPTED, 0x400abc));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(),
		    FAKE_IPS(0x400124, 0x400789 | PKBPF_INTERRUPTED, 0x400abc));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400124, 0x400789, 0x400abc));
	play(fixture);
	assert_int_equal(row_count(fixture), 3);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(location_at(fixture, i, 1 - i)->address, i ? 0x1124 : 0x1456);
		assert_false(location_at(fixture, i, 1 - i)->is_return_address);
		assert_int_equal(location_at(fixture, i, 2 - i)->address, 0x1789);
		assert_false(location_at(fixture, i, 2 - i)->is_return_address);
		assert_true(location_at(fixture, i, 3 - i)->is_return_address);
	}
	assert_int_equal(location_at(fixture, 2, 1)->address, 0x1789);
	assert_true(location_at(fixture, 2, 1)->is_return_address);
}

static void a_mark_that_no_address_bears_is_part_of_an_unmapped_one(void **state)
{
	struct fixture *fixture = *state;

	/* Text that was taken for a return address, and the address of a vsyscall. */
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(),
		    FAKE_IPS(0x4000000000400123, 0x4847464544434241, 0xffffffffff600000, 0x400456));
	play(fixture);
	assert_int_equal(location_at(fixture, 0, 0)->address, 0x4000000000400123);
	assert_int_equal(location_at(fixture, 0, 1)->address, 0x4847464544434241);
	assert_int_equal(location_at(fixture, 0, 2)->address, 0xffffffffff600000);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(location_at(fixture, 0, i)->space, FRAME_UNMAPPED);
}

static void the_kernel_does_not_go_on_in_user_space(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(0xffffffff81000010, 0xffffffffff600400),
		    FAKE_IPS(0xffffffffff600400, 0x400456));
	play(fixture);
	assert_int_equal(depth_of(fixture, 0), 3);
	assert_int_equal(location_at(fixture, 0, 0)->space, FRAME_KERNEL);
	assert_int_equal(location_at(fixture, 0, 1)->space, FRAME_UNMAPPED);
	assert_int_equal(location_at(fixture, 0, 1)->address, 0xffffffffff600400);
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

static void
user_code_that_an_interrupt_took_into_the_kernel_is_at_its_next_instruction(void **state)
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
		.pid = 100,
		.start = 0x900000,
		.end = 0x910000,
		.protection = 3,
		.path = "//anon",
	};

	fake_map_view(fixture->machine, &data);
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x900040));
	play(fixture);
	assert_int_equal(location_at(fixture, 0, 0)->space, FRAME_UNMAPPED);
}

static void code_of_a_file_that_was_refused_counts_as_unmapped(void **state)
{
	struct fixture *fixture = *state;
	struct mapping_view other = {
		.pid = 1, .start = 0x1000, .end = 0x2000, .protection = 5, .path = "/other"};
	struct mapped_file *ignored;

	play(fixture);
	for (other.inode = 1; !mapped_file_table_add(fixture->fake.files, &other, &ignored);
	     other.inode++)
		;
	fake_map(fixture->machine, 100, 0x480000, 0x490000, 0, "/usr/lib/plugin");
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x480040, 0x400456));
	play(fixture);
	assert_int_equal(location_at(fixture, 0, 0)->space, FRAME_UNMAPPED);
	assert_int_equal(location_at(fixture, 0, 1)->space, FRAME_FILE);
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

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(),
		    FAKE_IPS(0x400123, 0x400456, 0x7f0000000456));
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0, "/usr/bin/other");
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(),
		    FAKE_IPS(0x400123, 0x400456, 0x7f0000000456));
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

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(),
		    FAKE_IPS(0x400010, 0x400020, 0x400030, 0x400040));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(),
		    FAKE_IPS(0x400050, 0x400060, 0x400070, 0x400030, 0x400040));
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
		fake_sample(fixture->machine, 100, 100, FAKE_IPS(0x8000000000400123),
			    FAKE_IPS(0x400123));
		fake_sample(fixture->machine, 100, 100, FAKE_IPS(0x400123),
			    FAKE_IPS(0x8000000000400123));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(file_addresses_are_offsets_in_the_file),
		TEST(only_the_interrupted_leaf_is_no_return_address),
		TEST(what_a_signal_has_interrupted_is_no_return_address),
		TEST(a_mark_that_no_address_bears_is_part_of_an_unmapped_one),
		TEST(the_kernel_does_not_go_on_in_user_space),
		TEST(user_leaf_below_kernel_frames_is_a_return_address),
		TEST(user_leaf_of_a_page_fault_is_the_faulting_instruction),
		TEST(user_code_that_an_interrupt_took_into_the_kernel_is_at_its_next_instruction),
		TEST(page_fault_in_a_system_call_leaves_the_user_leaf_a_return_address),
		TEST(a_call_at_the_end_of_a_mapping_belongs_to_it),
		TEST(anonymous_code_belongs_to_its_process),
		TEST(anonymous_memory_that_is_no_code_counts_as_unmapped),
		TEST(code_of_a_file_that_was_refused_counts_as_unmapped),
		TEST(a_new_mapping_counts_from_its_moment_on),
		TEST(frames_of_the_stack_before_are_those_of_the_new_mapping),
		TEST(stacks_that_share_outer_frames_keep_their_own_inner_ones),
		TEST(processes_with_the_same_addresses_are_told_apart),
		TEST(addresses_that_differ_in_the_top_bit_are_told_apart),
		TEST(an_exec_leaves_no_frame_of_the_old_image_behind),
		TEST(two_processes_share_frames_of_one_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
