// SPDX-License-Identifier: BSD-2-Clause
/* Tests that telling ended processes in groups changes no sum, and which processes are told by their pids all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/offcpu.h>

#include "base/array.h"
#include "event/resource_event.h"
#include "fake_profile.h"
#include "profile/process_merge.h"
#include "profile/profile_merge.h"
#include "report/resource_rows.h"

#define SERVER "/usr/bin/server"
#define CGROUP 7
#define LATER_NS (60 * 1000000000ULL)

struct fixture {
	struct fake_machine *machine;
	struct fake_profile fake;
	struct event_sink sink;
};

static void add_machine(struct fixture *fixture, enum pkbpf_resource_moment moment, uint64_t time_ns)
{
	struct pkbpf_event_machine machine = {.header = {.flags = (uint16_t)moment, .time_ns = time_ns}};
	struct event_buffer buffer = {0};

	assert_int_equal(machine_event_encode(&buffer, &machine), 0);
	fixture->sink.ops->on_other(fixture->sink.context, (const void *)buffer.data);
	event_buffer_done(&buffer);
}

static int setup_with(void **state, const struct aggregator_options *options)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->machine = fake_machine_new();
	fake_profile_init(&fixture->fake, options);
	fixture->fake.symbolizer = fake_symbols_new(NULL, 0, fixture->fake.processes);
	fixture->sink = aggregator_sink(fixture->fake.aggregator);
	fake_process(fixture->machine, 1, 0, "init");
	fake_process(fixture->machine, 50, 1, "server");
	fake_play_new(fixture->machine, &fixture->sink);
	add_machine(fixture, PKBPF_RESOURCE_START, FAKE_START_NS);
	*state = fixture;
	return 0;
}

static int setup(void **state)
{
	return setup_with(state, NULL);
}

static int setup_limited(void **state)
{
	const struct aggregator_options options = {
		.want_user = true, .want_kernel = true, .slow_io_limit = 3, .max_ended_tasks = 100};

	return setup_with(state, &options);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	fake_machine_free(fixture->machine);
	fake_profile_done(&fixture->fake);
	free(fixture);
	return 0;
}

static void play(struct fixture *fixture)
{
	fake_play_new(fixture->machine, &fixture->sink);
}

static void add_account(struct fixture *fixture, uint32_t pid, const char *comm, uint64_t start_ns)
{
	struct resource_view view = {
		.moment = PKBPF_RESOURCE_EXIT, .time_ns = fake_machine_now_ns(fixture->machine), .pid = pid, .tid = pid,
		.process_start_ns = start_ns, .thread_start_ns = start_ns, .cgroup_id = CGROUP, .counters = {.run_ns = 1000}};
	struct event_buffer buffer = {0};

	snprintf(view.comm, sizeof(view.comm), "%s", comm);
	assert_int_equal(resource_event_encode(&buffer, &view), 0);
	fixture->sink.ops->on_other(fixture->sink.context, (const void *)buffer.data);
	event_buffer_done(&buffer);
}

static void add_sample(struct fixture *fixture, uint32_t pid, uint64_t address)
{
	struct sample_view sample = {.pid = pid, .tid = pid, .cgroup_id = CGROUP, .user_end = PKBPF_END_ROOT, .count = 1,
				     .weight = 1, .user_ips = &address, .user_count = 1};

	fixture->sink.ops->on_sample(fixture->sink.context, &sample);
}

/* Waits of 100 ns each, with a stack of their own. */
static void add_waits(struct fixture *fixture, uint32_t pid, const char *comm, uint64_t count)
{
	struct pkbpf_histogram_bucket bucket = {pkbpf_histogram_index(100), (uint32_t)count};
	uint64_t address = 0x400000 + pid;
	struct stack_view stack = {.stack_id = pid, .pid = pid, .user_end = PKBPF_END_ROOT, .user_ips = &address,
				   .user_count = 1};
	struct totals_view totals = {
		.pid = pid, .tid = pid, .kind = PKBPF_PROFILE_OFFCPU, .state = PKBPF_WAIT_SLEEP, .cgroup_id = CGROUP,
		.stack_id = pid, .count = count, .total = 100 * count, .max = 100, .buckets = &bucket, .bucket_count = 1};

	snprintf(totals.comm, sizeof(totals.comm), "%s", comm);
	fixture->sink.ops->on_stack(fixture->sink.context, &stack);
	fixture->sink.ops->on_totals(fixture->sink.context, &totals);
}

static void begin_process(struct fixture *fixture, uint32_t pid, const char *comm)
{
	fake_fork(fixture->machine, 1, pid);
	fake_exec(fixture->machine, pid, comm);
	fake_map(fixture->machine, pid, 0x400000, 0x500000, 0x1000, SERVER);
	play(fixture);
}

/* Lives, is sampled, waits three times and ends. */
static void run_process(struct fixture *fixture, uint32_t pid, const char *comm)
{
	uint64_t start_ns = fake_machine_now_ns(fixture->machine);

	begin_process(fixture, pid, comm);
	add_sample(fixture, pid, 0x400100);
	add_waits(fixture, pid, comm, 3);
	fake_exit(fixture->machine, pid, pid);
	play(fixture);
	add_account(fixture, pid, comm, start_ns);
}

static void let_time_pass(struct fixture *fixture)
{
	fake_machine_at(fixture->machine, fake_machine_now_ns(fixture->machine) + LATER_NS);
	fake_comm(fixture->machine, 1, 1, "init");
	play(fixture);
}

/* Until now. */
static void merge(struct fixture *fixture)
{
	uint32_t *numbers = NULL;

	assert_int_equal(profile_merge_processes(fixture->fake.profile, fake_machine_now_ns(fixture->machine), &numbers), 0);
	assert_non_null(numbers);
	free(numbers);
}

struct sums {
	size_t rows, processes;
	uint64_t samples, waited_ns, members;
};

static struct sums sums_of(const struct fixture *fixture, const char *comm)
{
	size_t count;
	const struct profile_row *rows = profile_rows(fixture->fake.profile, &count);
	struct sums sums = {0};

	for (size_t i = 0; i < count; i++) {
		const struct process *process = process_table_by_id(fixture->fake.processes, rows[i].process);

		assert_non_null(process);
		if (strcmp(process->comm, comm) != 0)
			continue;
		sums.rows++;
		sums.samples += rows[i].kind == PKBPF_PROFILE_CPU ? rows[i].weight : 0;
		sums.waited_ns += rows[i].kind == PKBPF_PROFILE_OFFCPU ? rows[i].weight : 0;
	}
	for (uint32_t id = 0; id < process_table_count(fixture->fake.processes); id++) {
		const struct process *process = process_table_by_id(fixture->fake.processes, id);

		sums.processes += process && strcmp(process->comm, comm) == 0;
		sums.members += process && strcmp(process->comm, comm) == 0 ? process->members : 0;
	}
	return sums;
}

static void sums_stay_and_processes_of_one_name_become_one(void **state)
{
	struct fixture *fixture = *state;
	struct sums sums;

	for (uint32_t pid = 100; pid < 200; pid++)
		run_process(fixture, pid, pid % 2 ? "true" : "date");
	let_time_pass(fixture);
	merge(fixture);
	sums = sums_of(fixture, "true");
	assert_int_equal(sums.processes, 1);
	assert_int_equal(sums.members, 50);
	assert_int_equal(sums.samples, 50);
	assert_int_equal(sums.waited_ns, 50 * 300);
	assert_int_equal(sums.rows, 1 + 50); /* the samples' stack is one, the waits' are many */
	assert_int_equal(sums_of(fixture, "date").samples, 50);
	assert_int_equal(profile_account(fixture->fake.profile).recorded, 100);
	assert_int_equal(profile_end_count(fixture->fake.profile, UINT32_MAX, PKBPF_END_ROOT), 100 + 300);
	assert_int_equal(profile_grouped_processes(fixture->fake.profile), 100);
	assert_int_equal(profile_ended_processes(fixture->fake.profile), 0);
}

static void percentiles_and_ends_are_of_all_members(void **state)
{
	struct fixture *fixture = *state;
	const struct distribution *distribution;
	uint32_t group;

	run_process(fixture, 100, "true");
	run_process(fixture, 101, "true");
	let_time_pass(fixture);
	merge(fixture);
	distribution = profile_distribution_at(fixture->fake.profile, 0);
	assert_null(profile_distribution_at(fixture->fake.profile, 1));
	group = distribution->key.process;
	assert_int_equal(process_table_by_id(fixture->fake.processes, group)->members, 2);
	assert_int_equal(distribution->key.tid, 0);
	assert_int_equal(distribution->count, 6);
	assert_int_equal(distribution->bucket_count, 1);
	assert_int_equal(distribution->buckets[0].count, 6);
	assert_int_equal(profile_end_count(fixture->fake.profile, group, PKBPF_END_ROOT), 2 + 6);
}

static void who_lives_or_has_just_ended_is_told_by_pid(void **state)
{
	struct fixture *fixture = *state;
	uint32_t *numbers = NULL;

	begin_process(fixture, 100, "lives");
	add_sample(fixture, 100, 0x400100);
	run_process(fixture, 101, "ended");
	let_time_pass(fixture);
	assert_int_equal(profile_merge_processes(fixture->fake.profile, FAKE_START_NS, &numbers), 0);
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

/* What a thread of process 100 has waited for a disk. */
static void add_thread_wait(struct fixture *fixture, uint32_t tid, uint64_t length_ns)
{
	struct totals_view totals = {.pid = 100, .tid = tid, .kind = PKBPF_PROFILE_OFFCPU, .state = PKBPF_WAIT_DISK,
				     .measure = PKBPF_OFFCPU_TIME, .count = 1, .total = length_ns, .max = length_ns, .comm = "server"};

	fixture->sink.ops->on_totals(fixture->sink.context, &totals);
}

static void what_ended_threads_waited_for_is_told_with_their_process(void **state)
{
	struct fixture *fixture = *state;
	const struct distribution *distribution;
	uint64_t of_process = 0, of_thread = 0;

	begin_process(fixture, 100, "server");
	fake_thread(fixture->machine, 100, 101);
	play(fixture);
	add_thread_wait(fixture, 101, 7);
	for (uint32_t tid = 1000; tid < 1050; tid++) {
		fake_thread(fixture->machine, 100, tid);
		play(fixture);
		add_thread_wait(fixture, tid, 100);
		fake_exit(fixture->machine, 100, tid);
		play(fixture);
	}
	assert_non_null(profile_distribution_at(fixture->fake.profile, 50));
	merge(fixture);
	for (size_t i = 0; (distribution = profile_distribution_at(fixture->fake.profile, i)); i++) {
		if (distribution->key.tid == 0)
			of_process += distribution->total;
		else if (distribution->key.tid == 101)
			of_thread += distribution->total;
	}
	assert_null(profile_distribution_at(fixture->fake.profile, 2));
	assert_int_equal(of_process, 50 * 100);
	assert_int_equal(of_thread, 7);
	assert_int_equal(profile_ended_tasks(fixture->fake.profile), 50);
	assert_int_equal(sums_of(fixture, "server").members, 0);
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
	while ((frame = profile_frame(fixture->fake.profile, id)) && frame->location.space != FRAME_ANONYMOUS)
		id++;
	assert_non_null(frame);
	assert_int_equal(process_table_by_id(fixture->fake.processes, frame->location.object)->pid, 100);
	assert_int_equal(sums_of(fixture, "node").members, 1);
	/* Told already: it is not told again. */
	merge(fixture);
	assert_int_equal(sums_of(fixture, "node").members, 1);
	assert_int_equal(sums_of(fixture, "node").samples, 1);
}

/* Its id is free for another once the frames are gone, which profile_shorten_stacks() has left out. */
static void generated_code_that_is_gone_needs_no_process(void **state)
{
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
	fixture->fake.symbolizer = fixture->fake.symbolizer ? fixture->fake.symbolizer :
							      fake_symbols_new(NULL, 0, fixture->fake.processes);
	assert_int_equal(profile_shorten_stacks(fixture->fake.profile, fixture->fake.symbolizer, SIZE_MAX, NULL, &numbers), 0);
	free(numbers);
	merge(fixture);
	assert_null(process_table_by_id(fixture->fake.processes, id));
	assert_int_equal(sums_of(fixture, "node").members, 1);
	assert_int_equal(sums_of(fixture, "node").samples, 4096);
}

static void a_shell_that_became_a_program_is_told_with_the_program(void **state)
{
	struct fixture *fixture = *state;
	uint64_t start_ns = fake_machine_now_ns(fixture->machine);

	fake_fork(fixture->machine, 50, 100);
	play(fixture);
	add_sample(fixture, 100, 0x400100); /* still "server" */
	fake_exec(fixture->machine, 100, "true");
	play(fixture);
	add_sample(fixture, 100, 0x400100);
	fake_exit(fixture->machine, 100, 100);
	play(fixture);
	add_account(fixture, 100, "true", start_ns);
	let_time_pass(fixture);
	assert_int_equal(sums_of(fixture, "server").samples, 1);
	merge(fixture);
	assert_int_equal(sums_of(fixture, "server").samples, 0);
	assert_int_equal(sums_of(fixture, "true").samples, 2);
}

static void a_process_whose_last_numbers_are_missing_waits_for_them(void **state)
{
	struct fixture *fixture = *state;
	struct resource_view view = {.moment = PKBPF_RESOURCE_START, .time_ns = FAKE_START_NS + 1, .pid = 50, .tid = 50,
				     .process_start_ns = 5, .thread_start_ns = 5, .comm = "server"};
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

static struct resource_row row_named(const struct fixture *fixture, enum report_by by, const char *name, size_t *ret_rows)
{
	struct resource_row found = {0};
	struct resource_rows rows;

	assert_int_equal(resource_rows_init(&rows, fixture->fake.profile, by), 0);
	*ret_rows = rows.count;
	for (size_t i = 0; i < rows.count; i++) {
		if (strcmp(rows.items[i].name, name) == 0)
			found = rows.items[i];
	}
	resource_rows_done(&rows);
	return found;
}

static void the_report_has_one_row_for_a_group(void **state)
{
	struct fixture *fixture = *state;
	struct resource_row row;
	size_t rows;

	for (uint32_t pid = 100; pid < 120; pid++)
		run_process(fixture, pid, "true");
	let_time_pass(fixture);
	merge(fixture);
	run_process(fixture, 120, "last");
	add_machine(fixture, PKBPF_RESOURCE_END, fake_machine_now_ns(fixture->machine));
	profile_info(fixture->fake.profile)->start_ns = FAKE_START_NS;
	profile_info(fixture->fake.profile)->end_ns = fake_machine_now_ns(fixture->machine);
	row = row_named(fixture, REPORT_BY_PROCESS, "true", &rows);
	assert_int_equal(rows, 2);
	assert_int_equal(row.pid, 0);
	assert_int_equal(row.processes, 20);
	assert_int_equal(row.threads_seen, 20);
	assert_int_equal(row.cpu_ns, 20 * 1000);
	assert_int_equal(row.samples, 20);
	assert_int_equal(row.kind_weight[PKBPF_PROFILE_OFFCPU], 20 * 300);
	assert_true(row.started_inside && row.ended_inside);
	row = row_named(fixture, REPORT_BY_PROCESS, "last", &rows);
	assert_int_equal(row.pid, 120);
	assert_int_equal(row.cpu_ns, 1000);
	/* What has no thread (its samples) is the process's. */
	row = row_named(fixture, REPORT_BY_THREAD, "true", &rows);
	assert_int_equal(rows, 1 + 2);
	assert_int_equal(row.threads_seen, 20);
	assert_int_equal(row.cpu_ns, 20 * 1000);
	assert_int_equal(row.samples, 20);
	assert_int_equal(row.kind_weight[PKBPF_PROFILE_OFFCPU], 20 * 300);
	row = row_named(fixture, REPORT_BY_COMM, "true", &rows);
	assert_int_equal(row.processes, 20);
	assert_int_equal(row.cpu_ns, 20 * 1000);
}

/* Their rows are made while others are looked at: nothing that moves may be kept meanwhile. */
static void threads_that_are_not_in_the_account_have_the_name_of_their_process(void **state)
{
	struct fixture *fixture = *state;
	struct resource_rows rows;
	size_t named = 0;

	begin_process(fixture, 100, "server");
	for (uint32_t tid = 1000; tid < 3000; tid++)
		add_thread_wait(fixture, tid, 100);
	add_account(fixture, 100, "server", FAKE_START_NS + 1);
	add_machine(fixture, PKBPF_RESOURCE_END, fake_machine_now_ns(fixture->machine));
	assert_int_equal(resource_rows_init(&rows, fixture->fake.profile, REPORT_BY_THREAD), 0);
	for (size_t i = 0; i < rows.count; i++)
		named += rows.items[i].tid >= 1000 && strcmp(rows.items[i].name, "server") == 0;
	assert_int_equal(named, 2000);
	resource_rows_done(&rows);
}

/* Through the aggregator: beyond the limit those go into groups that ended a while ago, and memory does not grow. */
static void the_number_of_processes_is_limited_while_they_come_and_go(void **state)
{
	struct fixture *fixture = *state;
	size_t most = 0, rows;
	int steps = 0;

	for (uint32_t i = 0; i < 5000; i++) {
		run_process(fixture, 100 + i % 3000, i % 2 ? "true" : "date");
		fake_machine_at(fixture->machine, fake_machine_now_ns(fixture->machine) + 1000000000ULL);
		steps += aggregator_limit_memory(fixture->fake.aggregator, fixture->fake.symbolizer);
		most = process_table_count(fixture->fake.processes) > most ? process_table_count(fixture->fake.processes)
									    : most;
	}
	/* Forked, and executed under the same pid: two for each of a hundred, and those of the last seconds. */
	assert_in_range(most, 100, 250);
	assert_in_range(steps, 40, 60);
	assert_true(profile_ended_processes(fixture->fake.profile) <= 110);
	assert_int_equal(sums_of(fixture, "true").samples, 2500);
	assert_int_equal(sums_of(fixture, "date").waited_ns, 2500 * 300);
	assert_int_equal(profile_account(fixture->fake.profile).recorded, 5000);
	/* 3,000 stacks of waits, and what few processes have of their own. */
	profile_rows(fixture->fake.profile, &rows);
	assert_in_range(rows, 3000, 3700);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums_stay_and_processes_of_one_name_become_one),
		TEST(percentiles_and_ends_are_of_all_members),
		TEST(who_lives_or_has_just_ended_is_told_by_pid),
		TEST(what_ended_threads_waited_for_is_told_with_their_process),
		TEST(the_slowest_requests_keep_their_process),
		TEST(generated_code_keeps_the_process_it_is_named_by),
		TEST(generated_code_that_is_gone_needs_no_process),
		TEST(a_shell_that_became_a_program_is_told_with_the_program),
		TEST(a_process_whose_last_numbers_are_missing_waits_for_them),
		TEST(the_report_has_one_row_for_a_group),
		TEST(threads_that_are_not_in_the_account_have_the_name_of_their_process),
		cmocka_unit_test_setup_teardown(the_number_of_processes_is_limited_while_they_come_and_go, setup_limited,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
