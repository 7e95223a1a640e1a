// SPDX-License-Identifier: BSD-2-Clause
/* Tests what is counted to whom from running totals at the edges of an interval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "resource_usage_fixture.h"

/* Process 9, which began before the interval, at one of its ends. */
static void feed_nine(struct resource_usage *usage, uint16_t moment, uint64_t run_ns)
{
	feed_thread(usage, (struct resource_view){.moment = moment,
						  .pid = 9,
						  .process_start_ns = 5,
						  .counters = {.run_ns = run_ns}});
}

static void a_thread_that_lives_throughout_counts_its_difference(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_process process;

	feed_machine(usage, START, 500);
	feed_thread(usage,
		    (struct resource_view){
			    .moment = START,
			    .pid = 7,
			    .process_start_ns = 5,
			    .rss_bytes = 100,
			    .counters = {.run_ns = 1000, .minor_faults = 10, .written_bytes = 1}});
	feed_machine(usage, END, 900);
	feed_thread(usage, (struct resource_view){.moment = END,
						  .pid = 7,
						  .process_start_ns = 5,
						  .rss_bytes = 150,
						  .peak_rss_bytes = 170,
						  .counters = {.run_ns = 1700,
							       .minor_faults = 14,
							       .major_faults = 2,
							       .written_bytes = 1}});
	assert_true(resource_usage_known(usage));
	assert_int_equal(resource_usage_process_count(usage), 1);
	process = resource_usage_process(usage, 0);
	assert_int_equal(process.used.run_ns, 700);
	assert_int_equal(process.used.minor_faults, 4);
	assert_int_equal(process.used.major_faults, 2);
	assert_int_equal(process.used.written_bytes, 0);
	assert_false(process.started_inside);
	assert_int_equal(process.end_ns, 0);
	assert_int_equal(process.threads, 1);
	assert_true(process.growth_known);
	assert_int_equal(process.rss_bytes, 150);
	assert_int_equal(process.start_rss_bytes, 100);
	assert_int_equal(process.peak_rss_bytes, 170);
	assert_int_equal(resource_usage_machine(usage).busy_ns, 400);
	assert_int_equal(resource_usage_machine(usage).memory_bytes, 4096);
}

static void a_process_born_and_ended_inside_counts_in_full(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_process process;

	feed_machine(usage, START, 0);
	feed_thread(usage,
		    (struct resource_view){.moment = EXIT,
					   .pid = 9,
					   .process_start_ns = START_NS + 10,
					   .time_ns = START_NS + 50,
					   .peak_rss_bytes = 4096,
					   .counters = {.run_ns = 30, .voluntary_switches = 1}});
	feed_machine(usage, END, 0);
	process = resource_usage_process(usage, 0);
	assert_int_equal(process.used.run_ns, 30);
	assert_int_equal(process.used.voluntary_switches, 1);
	assert_true(process.started_inside);
	assert_int_equal(process.end_ns, START_NS + 50);
	assert_int_equal(process.threads, 0);
	assert_int_equal(process.threads_seen, 1);
	assert_false(process.rss_known);
	assert_int_equal(process.peak_rss_bytes, 4096);
}

static void what_ended_before_the_start_or_began_after_the_end_does_not_count(void **state)
{
	struct resource_usage *usage = *state;

	feed_machine(usage, START, 0);
	/* Freed inside the interval, but it had ended before: the reading at the start did not find
	 * it. */
	feed_thread(usage, (struct resource_view){.moment = EXIT,
						  .pid = 9,
						  .process_start_ns = START_NS - 10,
						  .time_ns = START_NS + 50,
						  .counters = {.run_ns = 30}});
	feed_machine(usage, END, 0);
	feed_thread(usage, (struct resource_view){.moment = EXIT,
						  .pid = 10,
						  .process_start_ns = END_NS + 10,
						  .time_ns = END_NS + 50,
						  .counters = {.run_ns = 30}});
	assert_int_equal(resource_usage_process_count(usage), 0);
}

static void what_ends_after_the_end_counts_up_to_the_end(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_process process;

	feed_machine(usage, START, 0);
	feed_nine(usage, START, 10);
	feed_machine(usage, END, 0);
	feed_nine(usage, END, 25);
	feed_thread(usage, (struct resource_view){.moment = EXIT,
						  .pid = 9,
						  .process_start_ns = 5,
						  .time_ns = END_NS + 99,
						  .counters = {.run_ns = 40}});
	process = resource_usage_process(usage, 0);
	assert_int_equal(process.used.run_ns, 15);
	assert_int_equal(process.end_ns, 0);
}

static void threads_add_up_and_the_process_lives_with_its_last(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_process process;
	struct resource_thread thread;

	feed_machine(usage, START, 0);
	feed_thread(usage, (struct resource_view){.moment = START,
						  .pid = 9,
						  .process_start_ns = 5,
						  .comm = "main",
						  .counters = {.run_ns = 10}});
	feed_thread(usage, (struct resource_view){.moment = EXIT,
						  .pid = 9,
						  .tid = 11,
						  .process_start_ns = 5,
						  .thread_start_ns = START_NS + 3,
						  .comm = "worker",
						  .time_ns = START_NS + 90,
						  .counters = {.run_ns = 100}});
	feed_machine(usage, END, 0);
	feed_thread(usage, (struct resource_view){.moment = END,
						  .pid = 9,
						  .process_start_ns = 5,
						  .comm = "main",
						  .counters = {.run_ns = 11}});
	process = resource_usage_process(usage, 0);
	assert_int_equal(process.used.run_ns, 101);
	assert_int_equal(process.threads, 1);
	assert_int_equal(process.threads_seen, 2);
	assert_int_equal(process.end_ns, 0);
	assert_string_equal(process.comm, "main");
	assert_int_equal(resource_usage_thread_count(usage), 2);
	assert_true(resource_usage_thread(usage, 1, &thread));
	assert_string_equal(thread.comm, "worker");
	assert_int_equal(thread.used.run_ns, 100);
	assert_int_equal(thread.end_ns, START_NS + 90);
}

/* The first thread of a process is told of last, since its parent asks for it, however early it
 * ended. */
static void a_process_ends_with_the_thread_that_ended_last(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_view worker = {.moment = EXIT,
				       .pid = 9,
				       .tid = 11,
				       .process_start_ns = START_NS + 1,
				       .thread_start_ns = START_NS + 3,
				       .time_ns = START_NS + 90};
	struct resource_view first = {.moment = EXIT,
				      .pid = 9,
				      .process_start_ns = START_NS + 1,
				      .time_ns = START_NS + 50};

	feed_machine(usage, START, 0);
	feed_thread(usage, worker);
	feed_thread(usage, first);
	assert_int_equal(resource_usage_process_count(usage), 1);
	assert_int_equal(resource_usage_process(usage, 0).end_ns, START_NS + 90);
	assert_int_equal(resource_usage_ended_count(usage), 1);
}

static void a_thread_without_last_numbers_is_told_as_missing(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_thread thread;

	feed_machine(usage, START, 0);
	feed_nine(usage, START, 10);
	feed_machine(usage, END, 0);
	assert_int_equal(resource_usage_missing(usage), 1);
	assert_false(resource_usage_thread(usage, 0, &thread));
	assert_int_equal(resource_usage_process(usage, 0).used.run_ns, 0);
}

static void run_time_is_divided_as_the_ticks_are(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_counters used;

	feed_machine(usage, START, 0);
	feed_thread(usage,
		    (struct resource_view){
			    .moment = EXIT,
			    .pid = 9,
			    .process_start_ns = START_NS,
			    .counters = {.run_ns = 1000, .user_ns = 3000, .system_ns = 1000}});
	feed_thread(usage, (struct resource_view){.moment = EXIT,
						  .pid = 10,
						  .process_start_ns = START_NS,
						  .counters = {.run_ns = 1000}});
	used = resource_usage_process(usage, 0).used;
	assert_int_equal(used.user_ns, 750);
	assert_int_equal(used.system_ns, 250);
	used = resource_usage_process(usage, 1).used;
	assert_int_equal(used.user_ns, 1000);
	assert_int_equal(used.system_ns, 0);
}

static void what_no_tick_has_met_is_like_its_process_or_the_kernels(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_thread thread;
	struct resource_counters used;

	feed_machine(usage, START, 0);
	feed_thread(usage,
		    (struct resource_view){
			    .moment = EXIT,
			    .pid = 9,
			    .tid = 9,
			    .process_start_ns = START_NS,
			    .thread_start_ns = START_NS,
			    .counters = {.run_ns = 1000, .user_ns = 3000, .system_ns = 1000}});
	feed_thread(usage, (struct resource_view){.moment = EXIT,
						  .pid = 9,
						  .tid = 10,
						  .process_start_ns = START_NS,
						  .thread_start_ns = START_NS + 1,
						  .counters = {.run_ns = 400}});
	feed_thread(usage, (struct resource_view){.moment = EXIT,
						  .pid = 15,
						  .parent_pid = 2, /* kthreadd */
						  .process_start_ns = START_NS,
						  .counters = {.run_ns = 500}});
	feed_machine(usage, END, 0);
	assert_true(resource_usage_thread(usage, 1, &thread));
	assert_int_equal(thread.used.user_ns, 300);
	assert_int_equal(thread.used.system_ns, 100);
	used = resource_usage_process(usage, 1).used;
	assert_int_equal(used.user_ns, 0);
	assert_int_equal(used.system_ns, 500);
}

static void a_reused_pid_is_another_process(void **state)
{
	struct resource_usage *usage = *state;
	size_t index;

	feed_machine(usage, START, 0);
	feed_thread(usage, (struct resource_view){.moment = EXIT,
						  .pid = 9,
						  .process_start_ns = START_NS + 10,
						  .time_ns = START_NS + 20,
						  .counters = {.run_ns = 1}});
	feed_thread(usage, (struct resource_view){.moment = EXIT,
						  .pid = 9,
						  .process_start_ns = START_NS + 30,
						  .time_ns = START_NS + 40,
						  .counters = {.run_ns = 2}});
	assert_int_equal(resource_usage_process_count(usage), 2);
	assert_true(resource_usage_find(usage, 9, START_NS + 15, &index));
	assert_int_equal(resource_usage_process(usage, index).used.run_ns, 1);
	assert_true(resource_usage_find(usage, 9, START_NS + 35, &index));
	assert_int_equal(resource_usage_process(usage, index).used.run_ns, 2);
	assert_false(resource_usage_find(usage, 12, START_NS, &index));
}

/* A record of thread 12 of process 9, or of what has its first thread's number 9. */
static void feed_of_nine(struct resource_usage *usage, enum pkbpf_resource_moment moment,
			 uint32_t tid, uint64_t start_ns, uint64_t run_ns)
{
	feed_thread(usage, (struct resource_view){.moment = moment,
						  .time_ns = moment == START ? START_NS + 1
									     : START_NS + 50,
						  .pid = 9,
						  .tid = tid,
						  .process_start_ns = 5,
						  .thread_start_ns = start_ns,
						  .counters = {.run_ns = run_ns}});
}

static void a_thread_that_takes_the_first_ones_number_at_exec_is_another(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_thread first, other;

	feed_machine(usage, START, 0);
	feed_of_nine(usage, START, 9, 5, 1000);
	feed_of_nine(usage, START, 12, 7, 70);
	feed_of_nine(usage, EXIT, 9, 5, 1200);
	feed_of_nine(usage, PKBPF_RESOURCE_EXEC, 12, 5, 80);
	feed_machine(usage, END, 0);
	feed_nine(usage, END, 570);
	assert_int_equal(resource_usage_process(usage, 0).used.run_ns, 200 + 500);
	assert_int_equal(resource_usage_process(usage, 0).threads_seen, 2);
	assert_int_equal(resource_usage_process(usage, 0).threads, 1);
	assert_int_equal(resource_usage_process(usage, 0).end_ns, 0);
	assert_int_equal(resource_usage_missing(usage), 0);
	assert_true(resource_usage_thread(usage, 0, &first) &&
		    resource_usage_thread(usage, 1, &other));
	assert_int_equal(first.used.run_ns, 200);
	assert_int_equal(other.used.run_ns, 500);
	assert_int_equal(other.tid, 9);
}

static void it_counts_in_full_when_it_was_born_inside(void **state)
{
	struct resource_usage *usage = *state;

	feed_machine(usage, START, 0);
	feed_of_nine(usage, START, 9, 5, 1000);
	feed_of_nine(usage, EXIT, 9, 5, 1200);
	feed_of_nine(usage, PKBPF_RESOURCE_EXEC, 12, 5, 80);
	/* Another one of the new program does the same. */
	feed_of_nine(usage, EXIT, 9, 5, 90);
	feed_of_nine(usage, PKBPF_RESOURCE_EXEC, 13, 5, 1);
	feed_machine(usage, END, 0);
	feed_nine(usage, END, 7);
	assert_int_equal(resource_usage_process(usage, 0).used.run_ns, 200 + 90 + 7);
	assert_int_equal(resource_usage_process(usage, 0).threads_seen, 3);
	assert_int_equal(resource_usage_missing(usage), 0);
}

static void what_becomes_a_target_counts_from_the_start(void **state)
{
	struct resource_usage *usage = *state;

	feed_machine(usage, START, 0);
	feed_nine(usage, PKBPF_RESOURCE_BYSTANDER, 100);
	feed_thread(usage, (struct resource_view){.moment = PKBPF_RESOURCE_BYSTANDER,
						  .pid = 8,
						  .process_start_ns = 5});
	assert_int_equal(resource_usage_process(usage, 0).threads_seen, 0);
	feed_machine(usage, END, 0);
	feed_nine(usage, END, 130);
	assert_int_equal(resource_usage_process(usage, 0).used.run_ns, 30);
	assert_int_equal(resource_usage_process(usage, 0).threads_seen, 1);
	assert_int_equal(resource_usage_process(usage, 1).threads_seen, 0);
	assert_int_equal(resource_usage_missing(usage), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_thread_that_lives_throughout_counts_its_difference),
		TEST(a_process_born_and_ended_inside_counts_in_full),
		TEST(what_ended_before_the_start_or_began_after_the_end_does_not_count),
		TEST(what_ends_after_the_end_counts_up_to_the_end),
		TEST(threads_add_up_and_the_process_lives_with_its_last),
		TEST(a_process_ends_with_the_thread_that_ended_last),
		TEST(a_thread_without_last_numbers_is_told_as_missing),
		TEST(run_time_is_divided_as_the_ticks_are),
		TEST(what_no_tick_has_met_is_like_its_process_or_the_kernels),
		TEST(a_reused_pid_is_another_process),
		TEST(a_thread_that_takes_the_first_ones_number_at_exec_is_another),
		TEST(it_counts_in_full_when_it_was_born_inside),
		TEST(what_becomes_a_target_counts_from_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
