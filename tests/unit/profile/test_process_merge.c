// SPDX-License-Identifier: BSD-2-Clause
/* Tests that telling ended processes in groups changes no sum. */
#include "process_merge_fixture.h"
#include "rows/resource_rows.h"

static int setup_limited(void **state)
{
	const struct aggregator_options options = {
		.want_user = true, .want_kernel = true, .slow_io_limit = 3, .max_ended_tasks = 100};

	return setup_with(state, &options);
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
	assert_int_equal(profile_end_count(fixture->fake.profile, UINT32_MAX, PKBPF_END_ROOT),
			 100 + 300);
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

/* What a thread of process 100 has waited for a disk. */
static void add_thread_wait(struct fixture *fixture, uint32_t tid, uint64_t length_ns)
{
	struct totals_view totals = {.pid = 100,
				     .tid = tid,
				     .kind = PKBPF_PROFILE_OFFCPU,
				     .state = PKBPF_WAIT_DISK,
				     .measure = PKBPF_OFFCPU_TIME,
				     .count = 1,
				     .total = length_ns,
				     .max = length_ns,
				     .comm = "server"};

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
	for (size_t i = 0; (distribution = profile_distribution_at(fixture->fake.profile, i));
	     i++) {
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

static void what_goes_on_as_another_program_is_one_process(void **state)
{
	struct fixture *fixture = *state;
	uint64_t start_ns = fake_machine_now_ns(fixture->machine);

	fake_fork(fixture->machine, 50, 100);
	play(fixture);
	add_sample(fixture, 100, 0x400100); /* still "server" */
	fake_exec(fixture->machine, 100, "shell");
	play(fixture);
	add_sample(fixture, 100, 0x400100);
	fake_exec(fixture->machine, 100, "true"); /* in no sample yet */
	play(fixture);
	let_time_pass(fixture);
	merge(fixture);
	assert_int_equal(profile_grouped_processes(fixture->fake.profile), 0);
	assert_int_equal(sums_of(fixture, "server").samples + sums_of(fixture, "shell").samples, 0);
	assert_int_equal(sums_of(fixture, "true").samples, 2);
	assert_int_equal(sums_of(fixture, "true").members, 0);
	/* Where it began the next one when it was there before anybody looked, too; not where its
	 * pid is another's. */
	add_sample(fixture, 50, 0x400100);
	fake_exec(fixture->machine, 50, "reloaded");
	play(fixture);
	let_time_pass(fixture);
	merge(fixture);
	assert_int_equal(sums_of(fixture, "server").samples, 0);
	assert_int_equal(sums_of(fixture, "reloaded").samples, 1);
	fake_exit(fixture->machine, 100, 100);
	play(fixture);
	add_account(fixture, 100, "true", start_ns);
	let_time_pass(fixture);
	begin_process(fixture, 100, "other");
	merge(fixture);
	assert_int_equal(sums_of(fixture, "other").samples, 0);
	assert_int_equal(sums_of(fixture, "true").samples, 2);
	assert_int_equal(sums_of(fixture, "true").members, 1);
}

static struct resource_row row_named(const struct fixture *fixture, enum rows_by by,
				     const char *name, size_t *ret_rows)
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
	row = row_named(fixture, ROWS_BY_PROCESS, "true", &rows);
	assert_int_equal(rows, 2);
	assert_int_equal(row.pid, 0);
	assert_int_equal(row.processes, 20);
	assert_int_equal(row.threads_seen, 20);
	assert_int_equal(row.cpu.total_ns, 20 * 1000);
	assert_int_equal(row.cpu.samples, 20);
	assert_int_equal(row.kind_weight[PKBPF_PROFILE_OFFCPU], 20 * 300);
	assert_true(row.started_inside && row.ended_inside);
	row = row_named(fixture, ROWS_BY_PROCESS, "last", &rows);
	assert_int_equal(row.pid, 120);
	assert_int_equal(row.cpu.total_ns, 1000);
	/* What has no thread (its samples) is the process's. */
	row = row_named(fixture, ROWS_BY_THREAD, "true", &rows);
	assert_int_equal(rows, 1 + 2);
	assert_int_equal(row.threads_seen, 20);
	assert_int_equal(row.cpu.total_ns, 20 * 1000);
	assert_int_equal(row.cpu.samples, 20);
	assert_int_equal(row.kind_weight[PKBPF_PROFILE_OFFCPU], 20 * 300);
	row = row_named(fixture, ROWS_BY_COMM, "true", &rows);
	assert_int_equal(row.processes, 20);
	assert_int_equal(row.cpu.total_ns, 20 * 1000);
}

static void a_worker_that_left_has_the_name_that_it_had(void **state)
{
	struct fixture *fixture = *state;
	uint64_t start_ns = fake_machine_now_ns(fixture->machine);
	struct resource_row row;
	size_t rows;

	fake_fork(fixture->machine, 50, 100);
	play(fixture);
	add_sample(fixture, 100, 0x400100);
	fake_exec(fixture->machine, 100, "date");
	play(fixture);
	add_final(fixture, PKBPF_RESOURCE_LEFT, 100, "date", start_ns);
	/* Of the time before, and told later. */
	add_waits(fixture, 100, "server", 3);
	add_machine(fixture, PKBPF_RESOURCE_END, fake_machine_now_ns(fixture->machine));
	profile_info(fixture->fake.profile)->start_ns = FAKE_START_NS;
	profile_info(fixture->fake.profile)->end_ns = fake_machine_now_ns(fixture->machine);
	row = row_named(fixture, ROWS_BY_PROCESS, "server", &rows);
	assert_int_equal(rows, 1);
	assert_int_equal(row.pid, 100);
	assert_int_equal(row.cpu.total_ns, 1000);
	assert_int_equal(row.cpu.samples, 1);
	assert_int_equal(row.kind_weight[PKBPF_PROFILE_OFFCPU], 300);
	assert_true(row.ended_inside);
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
	assert_int_equal(resource_rows_init(&rows, fixture->fake.profile, ROWS_BY_THREAD), 0);
	for (size_t i = 0; i < rows.count; i++)
		named += rows.items[i].tid >= 1000 && strcmp(rows.items[i].name, "server") == 0;
	assert_int_equal(named, 2000);
	resource_rows_done(&rows);
}

/* Through the aggregator: beyond the limit those go into groups that ended a while ago, and memory
 * does not grow. */
static void the_number_of_processes_is_limited_while_they_come_and_go(void **state)
{
	struct fixture *fixture = *state;
	size_t most = 0, rows;
	int steps = 0;

	for (uint32_t i = 0; i < 5000; i++) {
		run_process(fixture, 100 + i % 3000, i % 2 ? "true" : "date");
		fake_machine_at(fixture->machine,
				fake_machine_now_ns(fixture->machine) + 1000000000ULL);
		steps +=
			aggregator_limit_memory(fixture->fake.aggregator, fixture->fake.symbolizer);
		most = process_table_count(fixture->fake.processes) > most
			       ? process_table_count(fixture->fake.processes)
			       : most;
	}
	/* Forked, and executed under the same pid: two for each of a hundred, and those of the last
	 * seconds. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums_stay_and_processes_of_one_name_become_one),
		TEST(percentiles_and_ends_are_of_all_members),
		TEST(what_ended_threads_waited_for_is_told_with_their_process),
		TEST(a_shell_that_became_a_program_is_told_with_the_program),
		TEST(what_goes_on_as_another_program_is_one_process),
		TEST(the_report_has_one_row_for_a_group),
		TEST(a_worker_that_left_has_the_name_that_it_had),
		TEST(threads_that_are_not_in_the_account_have_the_name_of_their_process),
		cmocka_unit_test_setup_teardown(
			the_number_of_processes_is_limited_while_they_come_and_go, setup_limited,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
