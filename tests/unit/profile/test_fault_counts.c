// SPDX-License-Identifier: BSD-2-Clause
/* Tests that sampled page faults are brought to the exact number of each process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pkbpf/faults.h>

#include "fake_profile.h"
#include "profile/fault_counts.h"

static uint32_t add_row(struct profile *profile, uint32_t process, uint8_t state, uint32_t place,
			uint64_t faults)
{
	struct frame_location location = {.space = FRAME_KERNEL, .address = place};
	uint32_t frame = profile_intern_frame(profile, &location);
	struct profile_row row = {
		.kind = PKBPF_PROFILE_FAULTS,
		.process = process,
		.comm = profile_intern_string(profile, "app"),
		.stack = profile_intern_stack(profile, &frame, 1),
		.state = state,
		.count = faults,
		.weight = faults,
	};

	assert_int_equal(profile_add(profile, &row), 0);
	return row.stack;
}

static void exact(struct profile *profile, uint32_t process, uint8_t state, uint64_t faults)
{
	struct distribution_key key = {.kind = PKBPF_PROFILE_FAULTS,
				       .process = process,
				       .state = state,
				       .measure = PKBPF_FAULT_EXACT};
	struct distribution_change change = {.count = faults};

	assert_int_equal(profile_add_distribution(profile, &key, &change), 0);
}

static uint64_t weight_of(const struct profile *profile, uint32_t process, uint8_t fault)
{
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(rows[i].count, rows[i].weight);
		if (rows[i].process == process && (rows[i].state & PKBPF_FAULT_MASK) == fault)
			sum += rows[i].weight;
	}
	return sum;
}

static void stacks_of_a_process_add_up_to_its_exact_number(void **state)
{
	static const uint64_t numbers[] = {1, 2, 99, 100, 101, 1000003, UINT64_MAX};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct fake_profile fake;

		fake_profile_init(&fake, NULL);
		for (uint32_t place = 1; place <= 7; place++)
			add_row(fake.profile, 1,
				PKBPF_FAULT_MINOR | (place % 3) << PKBPF_FAULT_MEMORY_SHIFT, place,
				17 * place);
		exact(fake.profile, 1, PKBPF_FAULT_MINOR, numbers[i]);
		assert_int_equal(profile_scale_faults(fake.profile), 0);
		assert_true(weight_of(fake.profile, 1, PKBPF_FAULT_MINOR) == numbers[i]);
		fake_profile_done(&fake);
	}
}

static void shares_of_the_stacks_stay_what_they_were(void **state)
{
	struct fake_profile fake;
	const struct profile_row *rows;
	size_t count;

	fake_profile_init(&fake, NULL);
	add_row(fake.profile, 1, PKBPF_FAULT_MINOR, 1, 300);
	add_row(fake.profile, 1, PKBPF_FAULT_MINOR, 2, 100);
	exact(fake.profile, 1, PKBPF_FAULT_MINOR, 4000);
	assert_int_equal(profile_scale_faults(fake.profile), 0);
	rows = profile_rows(fake.profile, &count);
	assert_int_equal(count, 2);
	assert_int_equal(rows[0].weight, 3000);
	assert_int_equal(rows[1].weight, 1000);
	fake_profile_done(&fake);
}

/* A row as samples of 17 faults each make it. */
static void add_sampled(struct profile *profile, uint32_t place, uint64_t faults)
{
	struct frame_location location = {.space = FRAME_KERNEL, .address = place};
	uint32_t frame = profile_intern_frame(profile, &location);
	struct profile_row row = {
		.kind = PKBPF_PROFILE_FAULTS,
		.process = 1,
		.comm = profile_intern_string(profile, "app"),
		.stack = profile_intern_stack(profile, &frame, 1),
		.state = PKBPF_FAULT_MINOR,
		.count = faults,
		.weight = faults,
		.max = 17,
	};

	assert_int_equal(profile_add(profile, &row), 0);
}

/* mlock() of 100 MiB: 2,000 faults can be sampled, 25,600 are counted besides. */
static void pages_that_the_kernel_fetched_itself_are_nobodys_stack(void **state)
{
	struct fake_profile fake;
	const struct profile_row *rows;
	const struct frame_location *location;
	size_t count, depth;
	const uint32_t *frames;

	fake_profile_init(&fake, NULL);
	add_sampled(fake.profile, 1, 1700);
	add_sampled(fake.profile, 2, 300);
	exact(fake.profile, 1, PKBPF_FAULT_MINOR, 27600);
	assert_int_equal(profile_scale_faults(fake.profile), 0);
	rows = profile_rows(fake.profile, &count);
	assert_int_equal(count, 3);
	assert_int_equal(rows[0].weight, 1700);
	assert_int_equal(rows[1].weight, 300);
	assert_int_equal(rows[2].weight, 25600);
	frames = profile_stack(fake.profile, rows[2].stack, &depth);
	assert_int_equal(depth, 1);
	location = &profile_frame(fake.profile, frames[0])->location;
	assert_int_equal(location->space, FRAME_TRUNCATED);
	assert_int_equal(location->address, PKBPF_END_UNANNOUNCED);
	assert_true(profile_fault_was_sampled(fake.profile, &rows[0]));
	assert_false(profile_fault_was_sampled(fake.profile, &rows[2]));
	assert_int_equal(weight_of(fake.profile, 1, PKBPF_FAULT_MINOR), 27600);
	fake_profile_done(&fake);
}

/* Of 500 faults, each sample standing for 17, anything from 300 to 700 may be the sum. */
static void what_a_sample_may_have_missed_is_its_stacks(void **state)
{
	struct fake_profile fake;
	size_t count;

	fake_profile_init(&fake, NULL);
	add_sampled(fake.profile, 1, 306);
	exact(fake.profile, 1, PKBPF_FAULT_MINOR, 500);
	assert_int_equal(profile_scale_faults(fake.profile), 0);
	assert_int_equal(profile_rows(fake.profile, &count)[0].weight, 500);
	assert_int_equal(count, 1);
	fake_profile_done(&fake);
}

static void minor_and_major_faults_and_processes_are_scaled_apart(void **state)
{
	struct fake_profile fake;

	fake_profile_init(&fake, NULL);
	add_row(fake.profile, 1, PKBPF_FAULT_MINOR, 1, 17);
	add_row(fake.profile, 1, PKBPF_FAULT_MAJOR, 1, 3);
	add_row(fake.profile, 2, PKBPF_FAULT_MINOR, 1, 34);
	exact(fake.profile, 1, PKBPF_FAULT_MINOR, 20);
	exact(fake.profile, 1, PKBPF_FAULT_MAJOR, 5);
	assert_int_equal(profile_scale_faults(fake.profile), 0);
	assert_int_equal(weight_of(fake.profile, 1, PKBPF_FAULT_MINOR), 20);
	assert_int_equal(weight_of(fake.profile, 1, PKBPF_FAULT_MAJOR), 5);
	assert_int_equal(weight_of(fake.profile, 2, PKBPF_FAULT_MINOR), 34);
	fake_profile_done(&fake);
}

static void faults_of_which_none_was_sampled_are_a_row_without_a_stack(void **state)
{
	struct fake_profile fake;
	const struct profile_row *rows;
	size_t count, frames;

	fake_profile_init(&fake, NULL);
	exact(fake.profile, 1, PKBPF_FAULT_MINOR, 9);
	assert_int_equal(profile_scale_faults(fake.profile), 0);
	rows = profile_rows(fake.profile, &count);
	assert_int_equal(count, 1);
	assert_int_equal(rows[0].weight, 9);
	profile_stack(fake.profile, rows[0].stack, &frames);
	assert_int_equal(frames, 0);
	fake_profile_done(&fake);
}

static void other_kinds_and_measures_are_left_alone(void **state)
{
	struct distribution_key key = {
		.kind = PKBPF_PROFILE_OFFCPU, .process = 1, .state = 1, .measure = 1};
	struct distribution_change change = {.count = 1000};
	struct fake_profile fake;

	fake_profile_init(&fake, NULL);
	add_row(fake.profile, 1, PKBPF_FAULT_MINOR, 1, 17);
	profile_add_distribution(fake.profile, &key, &change);
	key.kind = PKBPF_PROFILE_FAULTS;
	key.measure = 0;
	profile_add_distribution(fake.profile, &key, &change);
	assert_int_equal(profile_scale_faults(fake.profile), 0);
	assert_int_equal(weight_of(fake.profile, 1, PKBPF_FAULT_MINOR), 17);
	fake_profile_done(&fake);
}

static void all_programs_of_a_process_are_scaled_together(void **state)
{
	struct fake_machine *machine = fake_machine_new();
	struct fake_profile fake;
	struct event_sink sink;
	uint32_t before, after;

	fake_profile_init(&fake, NULL);
	sink = aggregator_sink(fake.aggregator);
	fake_fork(machine, 5, 7);
	fake_play_new(machine, &sink);
	before = process_table_get(fake.processes, 7, "sh")->id;
	fake_exec(machine, 7, "app");
	fake_play_new(machine, &sink);
	after = process_table_get(fake.processes, 7, "app")->id;
	assert_int_not_equal(before, after);
	add_row(fake.profile, before, PKBPF_FAULT_MINOR, 1, 100);
	add_row(fake.profile, after, PKBPF_FAULT_MINOR, 2, 300);
	exact(fake.profile, after, PKBPF_FAULT_MINOR, 4000);
	assert_int_equal(profile_scale_faults(fake.profile), 0);
	assert_int_equal(weight_of(fake.profile, before, PKBPF_FAULT_MINOR), 1000);
	assert_int_equal(weight_of(fake.profile, after, PKBPF_FAULT_MINOR), 3000);
	fake_profile_done(&fake);
	fake_machine_free(machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_of_a_process_add_up_to_its_exact_number),
		cmocka_unit_test(shares_of_the_stacks_stay_what_they_were),
		cmocka_unit_test(pages_that_the_kernel_fetched_itself_are_nobodys_stack),
		cmocka_unit_test(what_a_sample_may_have_missed_is_its_stacks),
		cmocka_unit_test(minor_and_major_faults_and_processes_are_scaled_apart),
		cmocka_unit_test(faults_of_which_none_was_sampled_are_a_row_without_a_stack),
		cmocka_unit_test(all_programs_of_a_process_are_scaled_together),
		cmocka_unit_test(other_kinds_and_measures_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
