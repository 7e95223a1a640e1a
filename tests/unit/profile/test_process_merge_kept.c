// SPDX-License-Identifier: BSD-2-Clause
/* Tests which processes are told by their pids all the same. */
#include "process_merge_fixture.h"
#include "profile/shrink/profile_merge.h"

static void who_lives_or_has_just_ended_is_told_by_pid(void **state)
{
	struct fixture *fixture = *state;
	uint32_t *numbers = NULL;

	begin_process(fixture, 100, "lives");
	add_sample(fixture, 100, 0x400100);
	run_process(fixture, 101, "ended");
	let_time_pass(fixture);
	assert_int_equal(profile_merge_processes(fixture->fake.profile, FAKE_START_NS, &numbers),
			 0);
	free(numbers);
	assert_int_equal(sums_of(fixture, "ended").members, 0);
	merge(fixture);
	assert_int_equal(sums_of(fixture, "ended").members, 1);
	assert_int_equal(sums_of(fixture, "lives").members, 0);
	assert_int_equal(process_table_find(fixture->fake.processes, 100)->pid, 100);
	/* It goes on under the same number. */
	add_sample(fixture, 100, 0x400100);
	assert_int_equal(sums_of(fixture, "lives").samples, 2);
}

static void the_slowest_requests_keep_their_process(void **state)
{
	struct fixture *fixture = *state;
	struct slow_io slow = {0};
	const struct slow_io *kept;

	run_process(fixture, 100, "true");
	run_process(fixture, 101, "true");
	let_time_pass(fixture);
	slow.process = 0;
	for (uint32_t id = 0; id < process_table_count(fixture->fake.processes); id++) {
		const struct process *process = process_table_by_id(fixture->fake.processes, id);

		if (process && process->pid == 101)
			slow.process = id;
	}
	assert_int_equal(slow_io_list_add(profile_slow_io(fixture->fake.profile), &slow), 0);
	merge(fixture);
	kept = slow_io_list_at(profile_slow_io(fixture->fake.profile), 0);
	assert_int_equal(process_table_by_id(fixture->fake.processes, kept->process)->pid, 101);
	assert_int_equal(sums_of(fixture, "true").members, 1);
	assert_int_equal(sums_of(fixture, "true").samples, 2);
}

static void generated_code_keeps_the_process_it_is_named_by(void **state)
{
	struct fixture *fixture = *state;
	const struct frame *frame;
	uint32_t id = 0;

	begin_process(fixture, 100, "node");
	fake_map(fixture->machine, 100, 0x700000, 0x800000, 0, "//anon");
	play(fixture);
	add_sample(fixture, 100, 0x700100);
	fake_exit(fixture->machine, 100, 100);
	play(fixture);
	let_time_pass(fixture);
	merge(fixture);
	while ((frame = profile_frame(fixture->fake.profile, id)) &&
	       frame->location.space != FRAME_ANONYMOUS)
		id++;
	assert_non_null(frame);
	assert_int_equal(process_table_by_id(fixture->fake.processes, frame->location.object)->pid,
			 100);
	assert_int_equal(sums_of(fixture, "node").members, 1);
	/* Told already: it is not told again. */
	merge(fixture);
	assert_int_equal(sums_of(fixture, "node").members, 1);
	assert_int_equal(sums_of(fixture, "node").samples, 1);
}

/* Its id is free for another once the frames are gone, which profile_shorten_stacks() has left
 * out. */
static void generated_code_that_is_gone_needs_no_process(void **state)
{
	struct profile_cut cut;
	struct fixture *fixture = *state;
	const struct process *process;
	uint32_t *numbers, id;

	begin_process(fixture, 100, "node");
	fake_map(fixture->machine, 100, 0x700000, 0x800000, 0, "//anon");
	play(fixture);
	id = process_table_find(fixture->fake.processes, 100)->id;
	for (uint64_t i = 0; i < 4096; i++)
		add_sample(fixture, 100, 0x700100 + i);
	fake_exit(fixture->machine, 100, 100);
	play(fixture);
	let_time_pass(fixture);
	merge(fixture);
	process = process_table_by_id(fixture->fake.processes, id);
	assert_true(process && process->pid == 100);
	fixture->fake.symbolizer = fixture->fake.symbolizer
					   ? fixture->fake.symbolizer
					   : fake_symbols_new(NULL, 0, fixture->fake.processes);
	cut = (struct profile_cut){fixture->fake.symbolizer, SIZE_MAX, NULL};
	assert_int_equal(profile_shorten_stacks(fixture->fake.profile, &cut, &numbers), 0);
	free(numbers);
	merge(fixture);
	assert_null(process_table_by_id(fixture->fake.processes, id));
	assert_int_equal(sums_of(fixture, "node").members, 1);
	assert_int_equal(sums_of(fixture, "node").samples, 4096);
}

static void a_process_whose_last_numbers_are_missing_waits_for_them(void **state)
{
	struct fixture *fixture = *state;
	struct resource_view view = {.moment = PKBPF_RESOURCE_START,
				     .time_ns = FAKE_START_NS + 1,
				     .pid = 50,
				     .tid = 50,
				     .process_start_ns = 5,
				     .thread_start_ns = 5,
				     .comm = "server"};
	struct event_buffer buffer = {0};

	assert_int_equal(resource_event_encode(&buffer, &view), 0);
	fixture->sink.ops->on_other(fixture->sink.context, (const void *)buffer.data);
	event_buffer_done(&buffer);
	add_sample(fixture, 50, 0x400100);
	/* A zombie: it has ended, and nobody has taken notice. */
	fake_exit(fixture->machine, 50, 50);
	play(fixture);
	let_time_pass(fixture);
	merge(fixture);
	assert_int_equal(sums_of(fixture, "server").members, 0);
	add_account(fixture, 50, "server", 5);
	let_time_pass(fixture);
	merge(fixture);
	assert_int_equal(sums_of(fixture, "server").members, 1);
}

/* The kernel tells the account of an exit some microseconds before the table. */
static void a_process_that_ended_at_the_limit_is_told_once(void **state)
{
	struct fixture *fixture = *state;
	uint64_t start_ns = fake_machine_now_ns(fixture->machine), end_ns;
	uint32_t *numbers = NULL;
	size_t index;

	begin_process(fixture, 100, "true");
	add_sample(fixture, 100, 0x400100);
	add_account(fixture, 100, "true", start_ns);
	fake_machine_at(fixture->machine, fake_machine_now_ns(fixture->machine) + 1000);
	fake_exit(fixture->machine, 100, 100);
	play(fixture);
	end_ns = process_table_find(fixture->fake.processes, 100)->end_ns;
	let_time_pass(fixture);
	assert_int_equal(profile_merge_processes(fixture->fake.profile, end_ns, &numbers), 0);
	free(numbers);
	/* Neither in the table nor in the account. */
	assert_int_equal(sums_of(fixture, "true").members, 0);
	assert_true(
		resource_usage_find(profile_resources(fixture->fake.profile), 100, end_ns, &index));
	merge(fixture);
	assert_int_equal(sums_of(fixture, "true").members, 1);
	assert_false(
		resource_usage_find(profile_resources(fixture->fake.profile), 100, end_ns, &index));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_lives_or_has_just_ended_is_told_by_pid),
		TEST(the_slowest_requests_keep_their_process),
		TEST(generated_code_keeps_the_process_it_is_named_by),
		TEST(generated_code_that_is_gone_needs_no_process),
		TEST(a_process_whose_last_numbers_are_missing_waits_for_them),
		TEST(a_process_that_ended_at_the_limit_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
