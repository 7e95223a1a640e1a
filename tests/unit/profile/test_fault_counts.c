// SPDX-License-Identifier: BSD-2-Clause
/* Tests that sampled page faults are brought to the exact number of each process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pkbpf/faults.h>

#include "fake_profile.h"
#include "profile/account/fault_counts.h"

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

/* The standard error's square is that of so many periods of 17 faults. */
static void announced(struct profile *profile, uint32_t process, uint64_t faults, uint64_t periods)
{
	struct distribution_key key = {.kind = PKBPF_PROFILE_FAULTS,
				       .process = process,
				       .state = PKBPF_FAULT_MINOR,
				       .measure = PKBPF_FAULT_ANNOUNCED};
	struct distribution_change change = {.count = faults, .variance = periods * 17 * 17};

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

/* A row as samples of `max` faults each make it. */
static void add_samples_of(struct profile *profile, uint32_t process, uint32_t place,
			   uint64_t faults, uint64_t max)
{
	struct frame_location location = {.space = FRAME_KERNEL, .address = place};
	uint32_t frame = profile_intern_frame(profile, &location);
	struct profile_row row = {
		.kind = PKBPF_PROFILE_FAULTS,
		.process = process,
		.comm = profile_intern_string(profile, "app"),
		.stack = profile_intern_stack(profile, &frame, 1),
		.state = PKBPF_FAULT_MINOR | PKBPF_FAULT_MEMORY_HEAP << PKBPF_FAULT_MEMORY_SHIFT,
		.count = faults,
		.weight = faults,
		.max = max,
	};

	assert_int_equal(profile_add(profile, &row), 0);
}

static void add_sampled(struct profile *profile, uint32_t place, uint64_t faults)
{
	add_samples_of(profile, 1, place, faults, 17);
}

/* Below a frame; 0: of rows without one. */
static uint64_t weight_at(const struct profile *profile, uint64_t place)
{
	size_t count, depth;
	const struct profile_row *rows = profile_rows(profile, &count);
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		const uint32_t *frames = profile_stack(profile, rows[i].stack, &depth);

		if ((depth ? profile_frame(profile, frames[0])->location.address : 0) == place)
			sum += rows[i].weight;
	}
	return sum;
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
	announced(fake.profile, 1, 2000, 5);
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

/* A third of the pages are fetched while the others are touched so fast that few of them have a
 * stack, each for 1,000. */
static void what_was_announced_is_known_however_few_stacks_there_are(void **state)
{
	struct fake_profile fake;

	fake_profile_init(&fake, NULL);
	add_samples_of(fake.profile, 1, 1, 62000, 1000);
	add_samples_of(fake.profile, 1, 2, 2000, 1000);
	exact(fake.profile, 1, PKBPF_FAULT_MINOR, 75000);
	announced(fake.profile, 1, 50014, 6);
	assert_int_equal(profile_scale_faults(fake.profile), 0);
	assert_int_equal(weight_at(fake.profile, PKBPF_END_UNANNOUNCED), 24986);
	assert_int_equal(weight_at(fake.profile, 1), 50014 * 31 / 32);
	assert_int_equal(weight_of(fake.profile, 1, PKBPF_FAULT_MINOR), 75000);
	fake_profile_done(&fake);
}

/* Each has too few to say so by itself. */
static void pages_fetched_for_many_short_processes_are_known_of_all_together(void **state)
{
	struct fake_profile fake;

	fake_profile_init(&fake, NULL);
	for (uint32_t process = 1; process <= 100; process++) {
		if (process % 4 == 0)
			add_samples_of(fake.profile, process, 1, 68, 68);
		exact(fake.profile, process, PKBPF_FAULT_MINOR, 50);
		announced(fake.profile, process, 17, 4);
	}
	assert_int_equal(profile_scale_faults(fake.profile), 0);
	assert_int_equal(weight_at(fake.profile, PKBPF_END_UNANNOUNCED), 3300);
	assert_int_equal(weight_at(fake.profile, 1), 1700);
	for (uint32_t process = 1; process <= 100; process++)
		assert_int_equal(weight_of(fake.profile, process, PKBPF_FAULT_MINOR), 50);
	fake_profile_done(&fake);
}

/* Half of them have no sample, and the others more than their number. */
static void short_processes_of_one_name_share_all_their_samples(void **state)
{
	struct fake_profile fake;
	const struct profile_row *rows;
	uint64_t in_heap = 0;
	size_t count;

	fake_profile_init(&fake, NULL);
	for (uint32_t process = 1; process <= 100; process++) {
		if (process % 4 == 0)
			add_samples_of(fake.profile, process, 1, 136, 68);
		if (process % 4 == 1)
			add_samples_of(fake.profile, process, 2, 64, 64);
		exact(fake.profile, process, PKBPF_FAULT_MINOR, 50);
	}
	assert_int_equal(profile_scale_faults(fake.profile), 0);
	assert_int_equal(weight_at(fake.profile, 1), 3400);
	assert_int_equal(weight_at(fake.profile, 2), 1600);
	for (uint32_t process = 1; process <= 100; process++)
		assert_int_equal(weight_of(fake.profile, process, PKBPF_FAULT_MINOR), 50);
	rows = profile_rows(fake.profile, &count);
	assert_true(count <= 50 + 100);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].state >> PKBPF_FAULT_MEMORY_SHIFT == PKBPF_FAULT_MEMORY_HEAP)
			in_heap += rows[i].weight;
	}
	assert_int_equal(in_heap, 5000);
	fake_profile_done(&fake);
}

static void a_process_with_enough_samples_keeps_its_own_stacks(void **state)
{
	struct fake_profile fake;

	fake_profile_init(&fake, NULL);
	add_samples_of(fake.profile, 1, 1, 9000, 17);
	add_samples_of(fake.profile, 2, 2, 21000, 17);
	exact(fake.profile, 1, PKBPF_FAULT_MINOR, 10000);
	exact(fake.profile, 2, PKBPF_FAULT_MINOR, 20000);
	assert_int_equal(profile_scale_faults(fake.profile), 0);
	assert_int_equal(weight_at(fake.profile, 1), 10000);
	assert_int_equal(weight_at(fake.profile, 2), 20000);
	fake_profile_done(&fake);
}

static void a_process_of_another_name_gets_no_stack_of_theirs(void **state)
{
	struct fake_profile fake;
	uint32_t app, other;

	fake_profile_init(&fake, NULL);
	app = process_table_get(fake.processes, 7, "app")->id;
	other = process_table_get(fake.processes, 8, "other")->id;
	add_samples_of(fake.profile, app, 1, 68, 68);
	exact(fake.profile, app, PKBPF_FAULT_MINOR, 50);
	exact(fake.profile, other, PKBPF_FAULT_MINOR, 9);
	assert_int_equal(profile_scale_faults(fake.profile), 0);
	assert_int_equal(weight_at(fake.profile, 1), 50);
	assert_int_equal(weight_at(fake.profile, 0), 9);
	assert_int_equal(weight_of(fake.profile, other, PKBPF_FAULT_MINOR), 9);
	fake_profile_done(&fake);
}

/* Sums of a hostile recording. */
static void sums_beyond_64_bits_are_left_alone(void **state)
{
	struct fake_profile fake;

	fake_profile_init(&fake, NULL);
	add_samples_of(fake.profile, 1, 1, 5, UINT64_MAX);
	exact(fake.profile, 1, PKBPF_FAULT_MINOR, UINT64_MAX);
	exact(fake.profile, 2, PKBPF_FAULT_MINOR, 9);
	assert_int_equal(profile_scale_faults(fake.profile), 0);
	assert_int_equal(weight_at(fake.profile, 1), 5);
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
	announced(fake.profile, 1, 408, 24);
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
		cmocka_unit_test(what_was_announced_is_known_however_few_stacks_there_are),
		cmocka_unit_test(pages_fetched_for_many_short_processes_are_known_of_all_together),
		cmocka_unit_test(what_a_sample_may_have_missed_is_its_stacks),
		cmocka_unit_test(short_processes_of_one_name_share_all_their_samples),
		cmocka_unit_test(a_process_with_enough_samples_keeps_its_own_stacks),
		cmocka_unit_test(a_process_of_another_name_gets_no_stack_of_theirs),
		cmocka_unit_test(sums_beyond_64_bits_are_left_alone),
		cmocka_unit_test(minor_and_major_faults_and_processes_are_scaled_apart),
		cmocka_unit_test(faults_of_which_none_was_sampled_are_a_row_without_a_stack),
		cmocka_unit_test(all_programs_of_a_process_are_scaled_together),
		cmocka_unit_test(other_kinds_and_measures_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
