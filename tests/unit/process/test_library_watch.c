// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/library_watch: which programs run without a library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "process/library_watch.h"

#define SECOND 1000000000ULL

static struct library_watch watch;

static int start(void **state)
{
	watch = (struct library_watch){.name = "libx.so"};
	assert_int_equal(library_watch_add(&watch, 10), 0);
	return 0;
}

static int stop(void **state)
{
	library_watch_done(&watch);
	return 0;
}

static void forks(uint32_t parent, uint32_t pid, uint32_t tid)
{
	library_watch_on_task(&watch, &(struct task_view){.kind = PKBPF_EVENT_FORK,
							  .pid = pid,
							  .tid = tid,
							  .parent_pid = parent,
							  .parent_tid = parent});
}

static void runs(uint32_t pid, const char *comm, uint64_t time_ns)
{
	struct task_view task = {
		.kind = PKBPF_EVENT_COMM, .pid = pid, .tid = pid, .exec = true, .time_ns = time_ns};

	snprintf(task.comm, sizeof(task.comm), "%s", comm);
	library_watch_on_task(&watch, &task);
}

static void maps(uint32_t pid, const char *path)
{
	library_watch_on_mapping(&watch, &(struct mapping_view){.pid = pid, .path = path});
}

static void ends(uint32_t pid, uint32_t tid)
{
	library_watch_on_task(
		&watch, &(struct task_view){.kind = PKBPF_EVENT_EXIT, .pid = pid, .tid = tid});
}

static void test_programs_with_it_are_not_counted(void **state)
{
	runs(10, "sh", 1);
	maps(10, "/opt/libx.so");
	forks(10, 11, 11);
	ends(11, 11);
	forks(10, 12, 12);
	runs(12, "ls", 2);
	maps(12, "/elsewhere/libx.so");
	ends(12, 12);
	ends(10, 10);
	library_watch_end(&watch, SECOND);
	assert_int_equal(watch.without, 0);
}

static void test_each_program_without_it_is_counted(void **state)
{
	runs(10, "sh", 1);
	maps(10, "/opt/libx.so");
	forks(10, 11, 11);
	runs(11, "static", 2);
	maps(11, "/bin/static");
	maps(11, "/opt/libx.so.debug");
	maps(11, "//anon");
	forks(11, 11, 13); /* a thread */
	ends(11, 13);
	ends(11, 11);
	runs(10, "env", 3);
	runs(10, "last", 4);
	library_watch_end(&watch, SECOND);
	assert_int_equal(watch.without, 3);
	assert_string_equal(watch.first, "static");
}

static void test_others_and_those_that_just_began_are_not_counted(void **state)
{
	runs(99, "other", 1);
	forks(99, 98, 98);
	runs(98, "other", 1);
	ends(98, 98);
	runs(10, "begins", SECOND - 1000);
	library_watch_end(&watch, SECOND);
	assert_int_equal(watch.without, 0);
}

static void test_processes_are_bounded(void **state)
{
	for (uint32_t i = 1; i < LIBRARY_WATCH_MAX; i++)
		forks(10, 1000 + i, 1000 + i);
	assert_true(library_watch_add(&watch, 999999) < 0);
	forks(10, 999999, 999999);
	assert_int_equal(watch.unfollowed, 1);
	runs(999999, "x", 1);
	library_watch_end(&watch, SECOND);
	assert_int_equal(watch.without, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_programs_with_it_are_not_counted, start, stop),
		cmocka_unit_test_setup_teardown(test_each_program_without_it_is_counted, start,
						stop),
		cmocka_unit_test_setup_teardown(
			test_others_and_those_that_just_began_are_not_counted, start, stop),
		cmocka_unit_test_setup_teardown(test_processes_are_bounded, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
