// SPDX-License-Identifier: BSD-2-Clause
/* Counting on software events, whose truth is known: the same path as that of instructions and
 * cycles, which not every machine has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/event_counts.h"

#define PAGES 500

static const struct counted_event faults_and_nothing[] = {
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{PERF_TYPE_HARDWARE, 0xffff}, /* no machine has it */
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
};

static void touch_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)memory)[i * page] = 1;
	munmap(memory, PAGES * page);
}

static void *touch_in_thread(void *argument)
{
	touch_pages();
	return argument;
}

static struct event_counts *open_own(void)
{
	struct error error;
	struct event_counts *counts =
		event_counts_open_process(faults_and_nothing, 3, (uint32_t)getpid(), &error);

	if (!counts)
		print_message("NOT CHECKED: no right to count: %s\n", error.text);
	return counts;
}

static void counts_threads_and_children_and_leaves_out_what_there_is_not(void **state)
{
	struct event_count values[EVENT_COUNTS_MAX];
	struct event_counts *counts = open_own();
	pthread_t thread;
	pid_t pid;

	if (!counts)
		return;
	touch_pages();
	assert_int_equal(pthread_create(&thread, NULL, touch_in_thread, NULL), 0);
	pthread_join(thread, NULL);
	pid = fork();
	if (pid == 0) {
		touch_pages();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	event_counts_read(counts, values);
	assert_true(values[0].known);
	assert_false(values[0].scaled);
	assert_true(values[0].value >= 3.0 * PAGES);
	assert_true(values[0].value < 4.5 * PAGES);
	assert_false(values[1].known);
	assert_true(values[2].known);
	assert_true(values[2].value > 0);
	event_counts_free(counts);
}

static void counts_from_one_reading_to_the_next(void **state)
{
	struct event_count values[EVENT_COUNTS_MAX];
	struct event_counts *counts = open_own();

	if (!counts)
		return;
	touch_pages();
	event_counts_read(counts, values);
	event_counts_read(counts, values);
	assert_true(values[0].value < PAGES / 2.0);
	event_counts_free(counts);
}

static void says_why_when_there_is_none_of_them(void **state)
{
	static const struct counted_event nothing[] = {{PERF_TYPE_HARDWARE, 0xffff}};
	uint32_t self = (uint32_t)getpid(), ended = 0x7ffffffe;
	struct event_scope scope = {.tids = &self, .tid_count = 1, .cgroup_fd = -1};
	struct error error = {""};

	assert_null(event_counts_open(nothing, 1, &scope, &error));
	assert_true(error.text[0]);
	scope.tids = &ended;
	assert_null(event_counts_open(faults_and_nothing, 3, &scope, &error));
}

static void counts_all_cpus(void **state)
{
	const struct event_scope scope = {.cgroup_fd = -1,
					  .cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF)};
	struct event_count values[EVENT_COUNTS_MAX];
	struct error error;
	struct event_counts *counts = event_counts_open(faults_and_nothing, 3, &scope, &error);

	if (!counts) {
		print_message("NOT CHECKED: no right to count: %s\n", error.text);
		return;
	}
	touch_pages();
	event_counts_read(counts, values);
	assert_true(values[0].known);
	assert_true(values[0].value >= PAGES);
	event_counts_free(counts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_threads_and_children_and_leaves_out_what_there_is_not),
		cmocka_unit_test(counts_from_one_reading_to_the_next),
		cmocka_unit_test(says_why_when_there_is_none_of_them),
		cmocka_unit_test(counts_all_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
