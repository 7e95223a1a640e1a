// SPDX-License-Identifier: BSD-2-Clause
/* Tests what is joined into whose row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "rows/resource_rows.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL

static struct fake_profile fake;

static int setup(void **state)
{
	account_scenario_init(&fake);
	return 0;
}

static int teardown(void **state)
{
	fake_profile_done(&fake);
	return 0;
}

static const struct resource_row *row_of(const struct resource_rows *rows, uint32_t pid)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->items[i].pid == pid)
			return &rows->items[i];
	return NULL;
}

static bool within(uint64_t value, uint64_t expected)
{
	return value > expected - expected / 32 && value < expected + expected / 32;
}

static void a_row_says_what_its_process_used_and_waited_for(void **state)
{
	struct resource_rows rows;
	const struct resource_row *row;

	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	row = row_of(&rows, 812);
	assert_non_null(row);
	assert_string_equal(row->name, "postgres");
	assert_string_equal(row->container, "postgresql@15-main.service");
	assert_int_equal(row->cpu.total_ns, 900 * MS);
	assert_int_equal(row->cpu.user_ns, 540 * MS);
	assert_int_equal(row->cpu.system_ns, 360 * MS);
	assert_true(row->cpu.share > 8.99 && row->cpu.share < 9.01);
	assert_int_equal(row->waits.disk_ns, 6300 * MS);
	assert_int_equal(row->waits.sleep_ns, 2800 * MS);
	assert_int_equal(row->waits.wall_ns, 10000 * MS);
	assert_int_equal(row->waits.offcpu_ns, 9100 * MS);
	assert_true(within(row->waits.disk.p50_ns, 14 * MS));
	assert_int_equal(row->waits.disk.max_ns, 14 * MS);
	assert_int_equal(row->blockio.writes, 450);
	assert_int_equal(row->blockio.reads, 30);
	assert_int_equal(row->blockio.written_bytes, 450 * 8192);
	assert_int_equal(row->blockio.read_bytes, 30 * 4096);
	assert_true(within(row->blockio.device.p99_ns, 13 * MS));
	assert_true(within(row->blockio.queue.p99_ns, 40000));
	assert_int_equal(row->memory.major_faults, 3);
	assert_int_equal(row->memory.rss_growth_bytes, 1 << 20);
	assert_int_equal(row->cpu.samples, 89);
	assert_int_equal(row->lifetime_ns, ACCOUNT_INTERVAL_NS);
	assert_false(row->started_inside);
	resource_rows_done(&rows);
}

static void every_row_knows_its_hottest_stack_of_each_kind(void **state)
{
	struct resource_rows rows;
	const struct resource_row *row;
	const uint32_t *functions;
	size_t count;

	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	row = row_of(&rows, 812);
	functions = resource_rows_stack(&rows, row->stacks[PKBPF_PROFILE_OFFCPU].stack, &count);
	assert_int_equal(count, 4);
	assert_string_equal(function_table_get(rows.functions, functions[0])->name, "io_schedule");
	assert_string_equal(function_table_get(rows.functions, functions[1])->name, "XLogFlush");
	assert_int_equal(row->stacks[PKBPF_PROFILE_OFFCPU].weight, 6300 * MS);
	assert_int_equal(row->stacks[PKBPF_PROFILE_FAULTS].stack, ROW_NO_STACK);
	row = row_of(&rows, 9120);
	functions = resource_rows_stack(&rows, row->stacks[PKBPF_PROFILE_CPU].stack, &count);
	assert_string_equal(function_table_get(rows.functions, functions[0])->name, "list_append");
	assert_int_equal(row->stacks[PKBPF_PROFILE_CPU].weight, 400);
	assert_int_equal(row->kind_weight[PKBPF_PROFILE_CPU], 594);
	resource_rows_done(&rows);
}

static struct row_explanation explain(const struct resource_rows *rows, uint32_t pid,
				      enum pkbpf_profile_kind kind, unsigned int states)
{
	const struct resource_row *row = row_of(rows, pid);

	return resource_rows_explain(rows, &row, 1, kind, states, NULL);
}

static void the_functions_that_explain_most_are_the_deepest_with_half_of_it(void **state)
{
	struct row_explanation found;
	struct resource_rows rows;

	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	/* not io_schedule: that threads wait in the scheduler explains nothing; nor main */
	found = explain(&rows, 812, PKBPF_PROFILE_OFFCPU, 1U << PKBPF_WAIT_DISK);
	assert_int_equal(found.count, 2);
	assert_string_equal(found.functions[0]->name, "exec_query");
	assert_string_equal(found.functions[1]->name, "XLogFlush");
	assert_int_equal(found.weight, 6300 * MS);
	assert_int_equal(found.whole, 6300 * MS);
	found = explain(&rows, 812, PKBPF_PROFILE_OFFCPU, 1U << PKBPF_WAIT_SLEEP);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.functions[0]->name, "main"); /* there is nothing else */
	found = explain(&rows, 9120, PKBPF_PROFILE_CPU, 0);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.functions[0]->name, "list_append");
	assert_int_equal(explain(&rows, 812, PKBPF_PROFILE_FAULTS, 0).count, 0);
	resource_rows_done(&rows);
}

static void who_did_nothing_is_left_out_and_counted_and_short_lives_are_not(void **state)
{
	struct resource_rows rows;
	size_t brief = 0;

	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	assert_null(row_of(&rows, 66));
	assert_int_equal(rows.quiet_processes, 1);
	for (size_t i = 0; i < rows.count; i++)
		brief += rows.items[i].started_inside && rows.items[i].ended_inside;
	assert_int_equal(brief, ACCOUNT_SHORT_LIVED);
	assert_int_equal(rows.count, ACCOUNT_SHORT_LIVED + 4);
	resource_rows_done(&rows);
}

static void who_did_nothing_comes_behind_the_rows_that_are_told(void **state)
{
	struct resource_rows rows;

	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	assert_int_equal(rows.all_count, rows.count + 1);
	assert_int_equal(rows.items[rows.count].pid, 66);
	assert_true(rows.items[rows.count].is_quiet);
	assert_int_equal(rows.items[rows.count].memory.rss_bytes, 1 << 20);
	resource_rows_done(&rows);
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_THREAD), 0);
	/* No row of a process is among them that stands for nothing beside its threads. */
	for (size_t i = 0; i < rows.all_count; i++)
		assert_true(rows.items[i].tid || rows.items[i].threads_seen || i < rows.count);
	resource_rows_done(&rows);
}

/* Five processes that slept for nearly all of ten seconds: what else is known of them decides. */
static void who_was_held_up_or_asked_for_has_not_done_nothing(void **state)
{
	static const struct {
		unsigned int state;
		uint64_t ms;
		bool is_told;
	} cases[] = {
		{PKBPF_WAIT_SLEEP, 0, false},	   {PKBPF_WAIT_STOPPED, 5000, true},
		{PKBPF_WAIT_STOPPED, 50, false},   {PKBPF_WAIT_UNINTERRUPTIBLE, 500, true},
		{PKBPF_WAIT_RUNQUEUE, 9000, true},
	};
	size_t count = sizeof(cases) / sizeof(cases[0]);
	struct fake_profile idle;
	struct resource_rows rows;

	account_begin(&idle, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	for (uint32_t i = 0; i < count; i++) {
		account_process(&idle, &(struct account_process){.pid = 100 + i, .comm = "hung"});
		account_waits(&idle, 100 + i, "hung", PKBPF_WAIT_SLEEP, 1,
			      10000 * MS - cases[i].ms * MS, 1, FAKE_IPS(ACCOUNT_FUTEX),
			      FAKE_IPS(ACCOUNT_MAIN));
		if (cases[i].ms)
			account_waits(&idle, 100 + i, "hung", cases[i].state, 1, cases[i].ms * MS,
				      1, FAKE_IPS(ACCOUNT_FUTEX), FAKE_IPS(ACCOUNT_MAIN));
	}
	account_end(&idle);
	assert_int_equal(resource_rows_init(&rows, idle.profile, ROWS_BY_PROCESS), 0);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(row_of(&rows, 100 + i) != NULL, cases[i].is_told);
	assert_int_equal(rows.quiet_processes, 2);
	resource_rows_done(&rows);
	profile_info(idle.profile)->has_targets = true;
	assert_int_equal(resource_rows_init(&rows, idle.profile, ROWS_BY_PROCESS), 0);
	assert_int_equal(rows.count, count);
	assert_int_equal(rows.quiet_processes, 0);
	resource_rows_done(&rows);
	fake_profile_done(&idle);
}

static void of_many_who_were_asked_for_the_idle_are_left_out(void **state)
{
	struct resource_rows rows;

	profile_info(fake.profile)->has_targets = true;
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	assert_null(row_of(&rows, 66));
	assert_int_equal(rows.quiet_processes, 1);
	resource_rows_done(&rows);
	profile_info(fake.profile)->has_targets = false;
}

static void the_total_is_the_sum_of_the_rows(void **state)
{
	static const enum rows_by groupings[] = {ROWS_BY_PROCESS, ROWS_BY_THREAD, ROWS_BY_CONTAINER,
						 ROWS_BY_COMM, ROWS_BY_NAME};

	for (size_t i = 0; i < ARRAY_SIZE(groupings); i++) {
		struct resource_rows rows;
		uint64_t cpu_ns = 0, wall_ns = 0, faults = 0, requests = 0;

		assert_int_equal(resource_rows_init(&rows, fake.profile, groupings[i]), 0);
		for (size_t j = 0; j < rows.count; j++) {
			cpu_ns += rows.items[j].cpu.total_ns;
			wall_ns += rows.items[j].waits.wall_ns;
			faults += rows.items[j].memory.minor_faults;
			requests += rows.items[j].blockio.requests;
		}
		assert_int_equal(cpu_ns, rows.total.cpu.total_ns);
		assert_int_equal(cpu_ns, 13910 * MS + ACCOUNT_SHORT_LIVED * 9 * MS);
		assert_int_equal(wall_ns, rows.total.waits.wall_ns);
		assert_int_equal(faults, rows.total.memory.minor_faults);
		assert_int_equal(requests, rows.total.blockio.requests);
		assert_int_equal(requests, 480);
		resource_rows_done(&rows);
	}
}

static void how_busy_cpus_were_is_unknown_in_less_than_ten_ticks(void **state)
{
	struct resource_rows rows;
	struct profile_info *info = profile_info(fake.profile);
	const uint64_t end_ns = info->end_ns;

	for (int i = 0; i < 2; i++) {
		info->end_ns = info->start_ns + 100 * MS - (i ? 1 : 0);
		assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
		assert_int_equal(rows.busy_percent >= 0, i == 0);
		resource_rows_done(&rows);
	}
	info->end_ns = end_ns;
}

static void rows_are_grouped_by_comm_and_container(void **state)
{
	struct resource_rows rows;
	bool found = false;

	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_COMM), 0);
	for (size_t i = 0; i < rows.count; i++) {
		if (strcmp(rows.items[i].name, "true") != 0)
			continue;
		found = true;
		assert_int_equal(rows.items[i].processes, ACCOUNT_SHORT_LIVED);
		assert_int_equal(rows.items[i].cpu.total_ns, ACCOUNT_SHORT_LIVED * 9 * MS);
		assert_int_equal(rows.items[i].pid, 0);
	}
	assert_true(found);
	resource_rows_done(&rows);
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_CONTAINER), 0);
	assert_int_equal(rows.count,
			 4); /* the unit, the docker container, the root, and what is not known */
	found = false;
	for (size_t i = 0; i < rows.count; i++)
		found = found || (!strcmp(rows.items[i].container, "docker:0123456789ab") &&
				  rows.items[i].cpu.total_ns == 6 * SECOND);
	assert_true(found);
	resource_rows_done(&rows);
}

static void names_that_differ_in_digits_are_one(void **state)
{
	static const char *const comms[] = {"kworker/0:1", "kworker/12:3", "kworker/u8:0", "7z"};
	struct fake_profile other;
	struct resource_rows rows;
	uint32_t workers = 0;

	(void)state;
	account_begin(&other, 0, SECOND, SECOND);
	for (uint32_t i = 0; i < ARRAY_SIZE(comms); i++)
		account_process(&other, &(struct account_process){
						.pid = 5 + i, .comm = comms[i], .run_ns = MS});
	account_end(&other);
	assert_int_equal(resource_rows_init(&rows, other.profile, ROWS_BY_NAME), 0);
	assert_int_equal(rows.all_count, 3);
	for (size_t i = 0; i < rows.all_count; i++) {
		if (strcmp(rows.items[i].name, "kworker/*:*") == 0)
			workers = rows.items[i].processes;
		else
			assert_true(!strcmp(rows.items[i].name, "kworker/u8:0") ||
				    !strcmp(rows.items[i].name, "7z"));
		assert_int_equal(rows.items[i].pid, 0);
	}
	assert_int_equal(workers, 2);
	resource_rows_done(&rows);
	fake_profile_done(&other);
}

static void no_peak_is_below_what_is_resident_at_the_end_nor_told_of_threads(void **state)
{
	struct fake_profile other;
	struct resource_rows rows;

	account_begin(&other, 0, SECOND, SECOND);
	for (uint32_t pid = 5; pid < 8; pid++)
		account_process(&other, &(struct account_process){.pid = pid,
								  .comm = "app",
								  .run_ns = MS,
								  .rss_bytes = 1 << 20});
	account_end(&other);
	assert_int_equal(resource_rows_init(&rows, other.profile, ROWS_BY_COMM), 0);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.items[0].memory.rss_bytes, 3 << 20);
	assert_int_equal(rows.items[0].memory.peak_rss_bytes, 3 << 20);
	assert_int_equal(rows.total.memory.peak_rss_bytes, 3 << 20);
	resource_rows_done(&rows);
	assert_int_equal(resource_rows_init(&rows, other.profile, ROWS_BY_THREAD), 0);
	assert_int_equal(rows.count, 3);
	assert_int_equal(rows.items[0].known & (ROW_HAS_PEAK | ROW_HAS_RSS), 0);
	assert_int_equal(rows.total.known & ROW_HAS_PEAK, ROW_HAS_PEAK);
	resource_rows_done(&rows);
	fake_profile_done(&other);
}

static void what_is_scarce_comes_first(void **state)
{
	struct resource_rows rows;

	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	/* The disk is waited for more than half of the time, by one; the CPUs are nearly all used,
	 * by several. */
	assert_int_equal(rows.items[0].pid, 812);
	assert_int_equal(rows.items[1].pid, 88);
	assert_int_equal(rows.items[2].pid, 9120);
	assert_true(rows.busy_percent > 96.9 && rows.busy_percent < 97.1);
	resource_rows_done(&rows);
}

static void what_was_not_recorded_is_not_known(void **state)
{
	struct fake_profile other;
	struct resource_rows rows;

	account_begin(&other, 1U << PKBPF_PROFILE_CPU, SECOND, SECOND);
	account_process(&other, &(struct account_process){
					.pid = 5, .comm = "app", .run_ns = 100, .run_delay_ns = 7});
	account_end(&other);
	assert_int_equal(resource_rows_init(&rows, other.profile, ROWS_BY_PROCESS), 0);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.items[0].known &
				 (ROW_HAS_WAITS | ROW_HAS_BLOCKIO | ROW_HAS_FAULTS | ROW_HAS_RSS),
			 0);
	/* the kernel's own account of the run queue is there always */
	assert_int_equal(rows.items[0].waits.runqueue_ns, 7);
	resource_rows_done(&rows);
	fake_profile_done(&other);
}

static void cpus_that_ran_no_thread_have_a_row_of_their_own_that_closes_the_sum(void **state)
{
	for (unsigned int by = 0; by < ROWS_BY_COUNT; by++) {
		const struct resource_row *row = NULL;
		struct fake_profile other;
		struct resource_rows rows;
		uint64_t cpu_ns = 0;

		/* They have what is recorded inside of them. */
		if (rows_are_of_regions(by))
			continue;
		/* Of 20 s 5 s idle, 12 s in threads; a process calls itself as the row is
		 * called. */
		account_begin_counted(&other, 1U << PKBPF_PROFILE_CPU, 14 * SECOND, 5 * SECOND,
				      12 * SECOND);
		account_process(&other, &(struct account_process){.pid = 5,
								  .comm = ROW_INTERRUPTS,
								  .run_ns = 12 * SECOND});
		account_end(&other);
		assert_int_equal(resource_rows_init(&rows, other.profile, by), 0);
		assert_int_equal(rows.count, 2);
		for (size_t i = 0; i < rows.count; i++) {
			cpu_ns += rows.items[i].cpu.total_ns;
			if (rows.items[i].no_process)
				row = &rows.items[i];
		}
		assert_non_null(row);
		assert_string_equal(by == ROWS_BY_CONTAINER ? row->container : row->name,
				    ROW_INTERRUPTS);
		assert_int_equal(row->pid, 0);
		assert_int_equal(row->processes, 0);
		assert_int_equal(row->cpu.total_ns, 3 * SECOND);
		assert_int_equal(row->cpu.system_ns, 3 * SECOND);
		assert_int_equal(cpu_ns, rows.machine.busy_ns);
		assert_int_equal(rows.total.cpu.total_ns, rows.machine.busy_ns);
		resource_rows_done(&rows);
		fake_profile_done(&other);
	}
}

static void what_rows_lack_is_not_taken_for_interrupts(void **state)
{
	struct fake_profile other;
	struct resource_rows rows;

	account_begin_counted(&other, 1U << PKBPF_PROFILE_CPU, 14 * SECOND, 5 * SECOND,
			      15 * SECOND);
	account_process(&other,
			&(struct account_process){.pid = 5, .comm = "app", .run_ns = 12 * SECOND});
	account_end(&other);
	assert_int_equal(resource_rows_init(&rows, other.profile, ROWS_BY_PROCESS), 0);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.total.cpu.total_ns, 12 * SECOND);
	assert_int_equal(rows.machine.busy_ns, 15 * SECOND);
	resource_rows_done(&rows);
	fake_profile_done(&other);
}

static void containers_are_called_by_their_names(void **state)
{
	struct fake_profile other;
	struct resource_rows rows;

	account_begin(&other, 1U << PKBPF_PROFILE_CPU, SECOND, SECOND);
	account_cgroup(&other, 5,
		       "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	account_container(&other, 5, "web-1");
	account_process(&other, &(struct account_process){
					.pid = 5, .comm = "app", .run_ns = 100, .cgroup_id = 5});
	account_end(&other);
	assert_int_equal(resource_rows_init(&rows, other.profile, ROWS_BY_CONTAINER), 0);
	assert_int_equal(rows.count, 1);
	assert_string_equal(rows.items[0].container, "docker:web-1");
	resource_rows_done(&rows);
	fake_profile_done(&other);
}

static void
a_wait_and_its_end_on_the_run_queue_are_one_of_which_lengths_know_both_parts(void **state)
{
	struct fake_profile other;
	struct resource_rows rows;

	account_begin(&other, 1U << PKBPF_PROFILE_OFFCPU, SECOND, SECOND);
	account_process(&other, &(struct account_process){.pid = 5, .comm = "app", .run_ns = 100});
	account_waits(&other, 5, "app", PKBPF_WAIT_SLEEP, 301, MS, 1, (struct fake_ips){0},
		      (struct fake_ips){0});
	account_waits(&other, 5, "app", PKBPF_WAIT_RUNQUEUE, 7, 3 * MS, 2, (struct fake_ips){0},
		      (struct fake_ips){0});
	account_queued(&other, 5, "app", 158, 2 * MS);
	account_end(&other);
	assert_int_equal(resource_rows_init(&rows, other.profile, ROWS_BY_PROCESS), 0);
	assert_int_equal(rows.items[0].waits.count, 308);
	assert_int_equal(rows.total.waits.count, 308);
	/* 301 of 466 parts are sleep, 158 of the 165 on the run queue follow a wake-up */
	assert_true(within(rows.items[0].waits.lengths.p50_ns, MS));
	assert_true(within(rows.items[0].waits.lengths.p95_ns, 2 * MS));
	assert_true(within(rows.items[0].waits.runqueue.p50_ns, 2 * MS));
	assert_int_equal(rows.items[0].waits.runqueue.max_ns, 3 * MS);
	resource_rows_done(&rows);
	fake_profile_done(&other);
}

static void a_program_begun_inside_is_new_in_whatever_process(void **state)
{
	for (unsigned int by = 0; by < ROWS_BY_COUNT; by++) {
		struct fake_profile other;
		struct resource_rows rows;

		if (by == ROWS_BY_CONTAINER || rows_are_of_regions(by))
			continue;
		account_begin(&other, 1U << PKBPF_PROFILE_CPU, SECOND, SECOND);
		account_process(&other, &(struct account_process){
						.pid = 5, .comm = "command", .run_ns = 200});
		account_exec(&other, 5, "command");
		account_process(&other,
				&(struct account_process){.pid = 6, .comm = "old", .run_ns = 100});
		account_end(&other);
		assert_int_equal(resource_rows_init(&rows, other.profile, by), 0);
		assert_int_equal(rows.count, 2);
		assert_string_equal(rows.items[0].name, "command");
		assert_true(rows.items[0].started_inside);
		assert_false(rows.items[0].ended_inside);
		assert_false(rows.items[1].started_inside);
		resource_rows_done(&rows);
		fake_profile_done(&other);
	}
}

/* Counters are read a moment before a short interval and after it. */
static void nobody_uses_more_cpus_than_it_has_threads_or_there_are(void **state)
{
	struct account_process process = {.pid = 5, .comm = "app", .run_ns = 25 * SECOND};
	struct resource_rows rows = {0};
	struct fake_profile other;

	account_begin(&other, 0, SECOND, SECOND);
	account_process(&other, &process);
	process = (struct account_process){.pid = 6, .comm = "other", .run_ns = SECOND};
	account_process(&other, &process);
	account_end(&other);
	assert_int_equal(resource_rows_init(&rows, other.profile, ROWS_BY_PROCESS), 0);
	assert_string_equal(rows.items[0].name, "app");
	assert_true(rows.items[0].cpu.share > 99.99 && rows.items[0].cpu.share < 100.01);
	assert_int_equal(rows.items[0].cpu.total_ns, 25 * SECOND);
	assert_true(rows.total.cpu.share > 199.99 && rows.total.cpu.share < 200.01);
	resource_rows_done(&rows);
	fake_profile_done(&other);
}

/* As process 1 where the kernel hides it: it sleeps, and nobody has seen it leave its CPU. */
static void an_estimate_is_within_what_the_cpus_were_busy_with(void **state)
{
	struct fake_profile other;
	struct resource_rows rows;

	account_begin(&other, 1U << PKBPF_PROFILE_OFFCPU, 5 * SECOND, 15 * SECOND);
	account_process(&other,
			&(struct account_process){.pid = 5, .comm = "app", .run_ns = 3 * SECOND});
	account_waits(&other, 1, "init", PKBPF_WAIT_SLEEP, 1, SECOND, 1, (struct fake_ips){0},
		      (struct fake_ips){0});
	account_on_cpu(&other, 1, "init", 9 * SECOND);
	account_end(&other);
	assert_int_equal(resource_rows_init(&rows, other.profile, ROWS_BY_PROCESS), 0);
	assert_int_equal(row_of(&rows, 1)->cpu.total_ns, 2 * SECOND);
	assert_int_equal(rows.total.cpu.total_ns, 5 * SECOND);
	resource_rows_done(&rows);
	fake_profile_done(&other);
}

/* Of 30 of 2 ms, and of 450 of 13 ms in another process, half take 13 ms; one of 100 that takes 1 s
 * in a third one is beyond their p99. */
static void rows_together_have_the_percentiles_of_all_their_lengths(void **state)
{
	static const uint64_t each_ms[] = {2, 13, 1000};
	static const uint32_t counts[] = {30, 450, 1};
	const struct resource_row *members[3];
	struct resource_row sum = {.blockio.device.p50_ns = 7};
	struct resource_rows rows;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct pkbpf_histogram_bucket bucket = {
			.index = pkbpf_histogram_index(each_ms[i] * MS), .count = counts[i]};
		struct distribution_key key = {.kind = PKBPF_PROFILE_BLOCKIO,
					       .process = 1000 + (uint32_t)i,
					       .measure = PKBPF_BLOCKIO_DEVICE_TIME};
		struct distribution_change change = {.count = counts[i],
						     .max = each_ms[i] * MS,
						     .buckets = &bucket,
						     .bucket_count = 1};

		assert_int_equal(profile_add_distribution(fake.profile, &key, &change), 0);
	}
	assert_int_equal(resource_rows_init(&rows, fake.profile, ROWS_BY_PROCESS), 0);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		members[i] = NULL;
		for (size_t j = 0; j < rows.all_count; j++)
			if (rows.items[j].blockio.device.max_ns == each_ms[i] * MS)
				members[i] = &rows.items[j];
		assert_non_null(members[i]);
	}
	assert_int_equal(resource_rows_merge_lengths(&rows, members, 3, &sum), 0);
	assert_true(within(sum.blockio.device.p50_ns, 13 * MS));
	assert_true(within(sum.blockio.device.p99_ns, 13 * MS));
	assert_int_equal(sum.blockio.device.max_ns, 1000 * MS);
	assert_int_equal(resource_rows_merge_lengths(&rows, members, 1, &sum), 0);
	assert_true(within(sum.blockio.device.p99_ns, 2 * MS));
	resource_rows_done(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_row_says_what_its_process_used_and_waited_for),
		TEST(every_row_knows_its_hottest_stack_of_each_kind),
		TEST(the_functions_that_explain_most_are_the_deepest_with_half_of_it),
		TEST(who_did_nothing_is_left_out_and_counted_and_short_lives_are_not),
		TEST(who_did_nothing_comes_behind_the_rows_that_are_told),
		TEST(who_was_held_up_or_asked_for_has_not_done_nothing),
		TEST(of_many_who_were_asked_for_the_idle_are_left_out),
		TEST(the_total_is_the_sum_of_the_rows),
		TEST(how_busy_cpus_were_is_unknown_in_less_than_ten_ticks),
		TEST(rows_are_grouped_by_comm_and_container),
		TEST(names_that_differ_in_digits_are_one),
		TEST(no_peak_is_below_what_is_resident_at_the_end_nor_told_of_threads),
		TEST(what_is_scarce_comes_first),
		cmocka_unit_test(what_was_not_recorded_is_not_known),
		cmocka_unit_test(
			cpus_that_ran_no_thread_have_a_row_of_their_own_that_closes_the_sum),
		cmocka_unit_test(what_rows_lack_is_not_taken_for_interrupts),
		cmocka_unit_test(containers_are_called_by_their_names),
		cmocka_unit_test(
			a_wait_and_its_end_on_the_run_queue_are_one_of_which_lengths_know_both_parts),
		cmocka_unit_test(a_program_begun_inside_is_new_in_whatever_process),
		cmocka_unit_test_setup_teardown(
			rows_together_have_the_percentiles_of_all_their_lengths, setup, teardown),
		cmocka_unit_test(nobody_uses_more_cpus_than_it_has_threads_or_there_are),
		cmocka_unit_test(an_estimate_is_within_what_the_cpus_were_busy_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
