// SPDX-License-Identifier: BSD-2-Clause
/* Tests that telling processes in groups changes no sum, and what stays apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event/resource_event.h"
#include "profile/account/resource_usage.h"

#define START_NS 1000000000ULL
#define END_NS	 9000000000ULL

static void feed(struct resource_usage *usage, struct event_buffer *buffer)
{
	for (size_t at = 0; at < buffer->size;) {
		const struct pkbpf_event_header *header = (const void *)(buffer->data + at);

		assert_int_equal(resource_usage_feed(usage, header), 0);
		at += header->size;
	}
	event_buffer_done(buffer);
}

static void feed_machine(struct resource_usage *usage, enum pkbpf_resource_moment moment)
{
	struct pkbpf_event_machine machine = {
		.header = {.flags = (uint16_t)moment,
			   .time_ns = moment == PKBPF_RESOURCE_START ? START_NS : END_NS}};
	struct event_buffer buffer = {0};

	assert_int_equal(machine_event_encode(&buffer, &machine), 0);
	feed(usage, &buffer);
}

static void feed_thread(struct resource_usage *usage, struct resource_view view, const char *comm)
{
	struct event_buffer buffer = {0};

	if (!view.tid)
		view.tid = view.pid;
	if (!view.thread_start_ns)
		view.thread_start_ns = view.process_start_ns;
	snprintf(view.comm, sizeof(view.comm), "%s", comm);
	assert_int_equal(resource_event_encode(&buffer, &view), 0);
	feed(usage, &buffer);
}

static void feed_start(struct resource_usage *usage, uint32_t pid, const char *comm)
{
	feed_thread(usage,
		    (struct resource_view){.moment = PKBPF_RESOURCE_START,
					   .time_ns = START_NS + 1,
					   .pid = pid,
					   .process_start_ns = 5,
					   .counters = {.run_ns = 1000}},
		    comm);
}

/* A process that lived from begin_ns to end_ns, or a thread of it. */
static void feed_exit(struct resource_usage *usage, uint32_t pid, const char *comm,
		      uint64_t begin_ns, uint64_t end_ns)
{
	feed_thread(usage,
		    (struct resource_view){
			    .moment = PKBPF_RESOURCE_EXIT,
			    .time_ns = end_ns,
			    .pid = pid,
			    .process_start_ns = begin_ns,
			    .cgroup_id = 7,
			    .peak_rss_bytes = 4096 * pid,
			    .counters = {.run_ns = 2000, .user_ns = 10, .minor_faults = 3}},
		    comm);
}

static int setup(void **state)
{
	*state = resource_usage_new();
	feed_machine(*state, PKBPF_RESOURCE_START);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	resource_usage_free(*state);
	return 0;
}

/* Merges all processes it may. The new numbers, to be freed. */
static uint32_t *merge_all(struct resource_usage *usage)
{
	size_t count = resource_usage_process_count(usage);
	bool *chosen = malloc(count + 1);
	uint32_t *numbers = NULL;

	memset(chosen, true, count);
	assert_int_equal(resource_usage_merge(usage, chosen, END_NS, &numbers), 0);
	assert_non_null(numbers);
	free(chosen);
	return numbers;
}

static struct resource_process group_named(struct resource_usage *usage, const char *comm)
{
	size_t index;

	assert_true(resource_usage_find_group(usage, comm, 7, &index));
	return resource_usage_process(usage, index);
}

static void processes_of_one_name_become_one_row(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_process group;
	uint32_t *numbers;

	feed_exit(usage, 10, "true", START_NS + 10, START_NS + 20);
	feed_exit(usage, 11, "date", START_NS + 20, START_NS + 25);
	feed_exit(usage, 12, "true", START_NS + 30, START_NS + 70);
	assert_int_equal(resource_usage_ended_count(usage), 3);
	numbers = merge_all(usage);
	assert_int_equal(numbers[0], numbers[2]);
	assert_int_not_equal(numbers[0], numbers[1]);
	free(numbers);
	assert_int_equal(resource_usage_process_count(usage), 2);
	assert_int_equal(resource_usage_ended_count(usage), 0);
	group = group_named(usage, "true");
	assert_int_equal(group.pid, 0);
	assert_int_equal(group.processes, 2);
	assert_int_equal(group.threads_seen, 2);
	assert_int_equal(group.used.run_ns, 4000);
	assert_int_equal(group.used.minor_faults, 6);
	assert_int_equal(group.peak_rss_bytes, 4096 * 12);
	assert_int_equal(group.start_ns, START_NS + 30); /* the longest life */
	assert_int_equal(group.end_ns, START_NS + 70);
	assert_true(group.started_inside);
	assert_int_equal(group_named(usage, "date").processes, 1);
}

static void later_ones_join_the_group_that_is_there(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_process group;

	for (uint32_t i = 0; i < 100; i++) {
		feed_exit(usage, 10 + i, "true", START_NS + i, START_NS + i + 5);
		free(merge_all(usage));
	}
	assert_int_equal(resource_usage_process_count(usage), 1);
	assert_int_equal(resource_usage_thread_count(usage), 1);
	group = group_named(usage, "true");
	assert_int_equal(group.processes, 100);
	assert_int_equal(group.used.run_ns, 100 * 2000);
}

static void a_group_has_one_thread_that_stands_for_all(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_thread thread;

	feed_exit(usage, 10, "true", START_NS + 10, START_NS + 20);
	feed_exit(usage, 11, "true", START_NS + 20, START_NS + 25);
	free(merge_all(usage));
	assert_int_equal(resource_usage_thread_count(usage), 1);
	assert_true(resource_usage_thread(usage, 0, &thread));
	assert_int_equal(thread.tid, 0);
	assert_int_equal(thread.threads, 2);
	assert_int_equal(thread.used.run_ns, 4000);
	assert_true(thread.started_inside);
	assert_int_not_equal(thread.end_ns, 0);
	assert_string_equal(thread.comm, "true");
	feed_exit(usage, 12, "true", START_NS + 30, START_NS + 40);
	assert_int_equal(resource_usage_thread_count(usage), 2);
	assert_true(resource_usage_thread(usage, 1, &thread));
	assert_int_equal(thread.threads, 1);
}

static void a_process_with_a_thread_that_may_live_stays(void **state)
{
	struct resource_usage *usage = *state;
	size_t index;

	feed_start(usage, 9, "server");
	/* A thread of it that ended is not the end of the process. */
	feed_thread(usage,
		    (struct resource_view){.moment = PKBPF_RESOURCE_EXIT,
					   .time_ns = START_NS + 50,
					   .pid = 9,
					   .tid = 99,
					   .process_start_ns = 5,
					   .thread_start_ns = START_NS + 2,
					   .counters = {.run_ns = 70}},
		    "server");
	free(merge_all(usage));
	assert_int_equal(resource_usage_process_count(usage), 1);
	assert_true(resource_usage_find(usage, 9, START_NS + 60, &index));
	feed_machine(usage, PKBPF_RESOURCE_END);
	feed_thread(usage,
		    (struct resource_view){.moment = PKBPF_RESOURCE_END,
					   .time_ns = END_NS + 1,
					   .pid = 9,
					   .process_start_ns = 5,
					   .counters = {.run_ns = 1500}},
		    "server");
	assert_int_equal(resource_usage_process(usage, index).used.run_ns, 570);
	assert_int_equal(resource_usage_process(usage, index).threads, 1);
	assert_int_equal(resource_usage_missing(usage), 0);
}

/* Threads of process 9, which began before the interval, from begin_ns on. */
static void feed_thread_exit(struct resource_usage *usage, uint32_t tid, uint64_t begin_ns,
			     uint64_t end_ns)
{
	feed_thread(usage,
		    (struct resource_view){.moment = PKBPF_RESOURCE_EXIT,
					   .time_ns = end_ns,
					   .pid = 9,
					   .tid = tid,
					   .process_start_ns = 5,
					   .thread_start_ns = begin_ns,
					   .counters = {.run_ns = 70}},
		    "worker");
}

static void ended_threads_of_a_living_process_are_told_together(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_thread thread;
	bool chosen[] = {false};
	uint32_t *numbers;

	feed_start(usage, 9, "server");
	for (uint32_t i = 0; i < 300; i++) {
		feed_thread_exit(usage, 1000 + i, START_NS + 10 + i, START_NS + 100 + 2 * i);
		if (i % 100 == 99) {
			/* The last fifty have ended too late for it. */
			assert_int_equal(resource_usage_merge(usage, chosen,
							      START_NS + 100 + 2 * (i - 49),
							      &numbers),
					 0);
			free(numbers);
			assert_int_equal(resource_usage_thread_count(usage), 1 + 1 + 50);
		}
	}
	assert_int_equal(resource_usage_process_count(usage), 1);
	assert_int_equal(resource_usage_process(usage, 0).threads_seen, 301);
	assert_int_equal(resource_usage_process(usage, 0).used.run_ns, 300 * 70);
	for (size_t i = 0; i < resource_usage_thread_count(usage); i++) {
		if (resource_usage_thread(usage, i, &thread) && !thread.tid)
			break;
	}
	assert_int_equal(thread.tid, 0);
	assert_int_equal(thread.pid, 9);
	assert_int_equal(thread.threads, 250);
	assert_int_equal(thread.used.run_ns, 250 * 70);
	assert_true(thread.started_inside);
	/* The leader lives, and its numbers at the start are known. */
	assert_int_equal(resource_usage_missing(usage), 1);
}

static void pids_are_found_again_among_those_that_stay(void **state)
{
	struct resource_usage *usage = *state;
	bool chosen[] = {true, false, false};
	uint32_t *numbers = NULL;
	size_t index;

	feed_exit(usage, 10, "first", START_NS + 10, START_NS + 20);
	feed_exit(usage, 10, "second", START_NS + 30, START_NS + 40);
	feed_exit(usage, 10, "third", START_NS + 50, START_NS + 60);
	assert_int_equal(resource_usage_merge(usage, chosen, 0, &numbers), 0);
	free(numbers);
	assert_true(resource_usage_find(usage, 10, START_NS + 55, &index));
	assert_string_equal(resource_usage_process(usage, index).comm, "third");
	assert_true(resource_usage_find(usage, 10, START_NS + 35, &index));
	assert_string_equal(resource_usage_process(usage, index).comm, "second");
	/* A thread known by its last numbers is still known. */
	feed_exit(usage, 10, "third", START_NS + 50, START_NS + 60);
	assert_int_equal(resource_usage_process(usage, 1).used.run_ns, 2000);
}

static void names_without_end_end_in_one_row(void **state)
{
	struct resource_usage *usage = *state;
	struct resource_process others;
	char comm[16];
	size_t index;

	for (uint32_t i = 0; i < RESOURCE_GROUPS_MAX + 50; i++) {
		snprintf(comm, sizeof(comm), "name%u", i);
		feed_exit(usage, 10 + i, comm, START_NS + i, START_NS + i + 5);
	}
	free(merge_all(usage));
	assert_int_equal(resource_usage_process_count(usage), RESOURCE_GROUPS_MAX + 1);
	assert_true(resource_usage_find_group(usage, RESOURCE_OTHERS_COMM, 0, &index));
	others = resource_usage_process(usage, index);
	assert_int_equal(others.processes, 50);
	assert_int_equal(others.used.run_ns, 50 * 2000);
	assert_string_equal(others.comm, RESOURCE_OTHERS_COMM);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(processes_of_one_name_become_one_row),
		TEST(later_ones_join_the_group_that_is_there),
		TEST(a_group_has_one_thread_that_stands_for_all),
		TEST(a_process_with_a_thread_that_may_live_stays),
		TEST(ended_threads_of_a_living_process_are_told_together),
		TEST(pids_are_found_again_among_those_that_stay),
		TEST(names_without_end_end_in_one_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
