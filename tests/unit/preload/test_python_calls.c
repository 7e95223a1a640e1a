// SPDX-License-Identifier: BSD-2-Clause
/* Tests the tables that count Python calls, and the file behind them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "preload/python_api.c"
#include "preload/python_calls_file.c"
#include "preload/python_calls_table.c"

static char folder[64];

static int setup(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/pkbpf-unit-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_true(calls_file_open(folder, strlen(folder), 0x30b));
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	assert_int_equal(rmdir(folder), 0);
	forget();
	return 0;
}

static void a_table_finds_what_was_put(void **state)
{
	struct calls_table table = {.slots = NULL};

	assert_int_equal(calls_find(&table, 1, 0), 0);
	for (uint32_t i = 1; i <= 20000; i++) {
		assert_int_equal(calls_find(&table, 64ULL * i, i % 7), 0);
		assert_true(calls_put(&table, 64ULL * i, i % 7, i));
	}
	for (uint32_t i = 1; i <= 20000; i++) {
		assert_int_equal(calls_find(&table, 64ULL * i, i % 7), i);
		assert_int_equal(calls_find(&table, 64ULL * i, i % 7 + 1), 0);
	}
	calls_table_done(&table);
	assert_int_equal(calls_find(&table, 64, 1), 0);
	(void)state;
}

static void a_head_says_what_there_is(void **state)
{
	assert_int_equal(calls_head->magic, PKBPF_PYTHON_CALLS_MAGIC);
	assert_int_equal(calls_head->version, 0x30b);
	assert_int_equal(calls_head->pid, getpid());
	assert_int_equal(calls_head->functions, 1);
	assert_int_equal(calls_new_function(), 1);
	assert_int_equal(calls_new_function(), 2);
	assert_int_equal(calls_head->functions, 3);
	calls_function(2)->first_line = 7;
	assert_int_equal(calls_function(2)->first_line, 7);
	(void)state;
}

static void rows_end_at_the_limit_and_when_the_file_is_gone(void **state)
{
	uint32_t last = 0, row;

	while ((row = calls_new_function()))
		last = row;
	assert_int_equal(last, PKBPF_PYTHON_FUNCTIONS - 1);
	assert_int_equal(calls_new_function(), 0);
	/* What has memory is used up without the file. */
	assert_int_equal(calls_new_edge(), 1);
	unlink(path);
	while ((row = calls_new_edge()))
		last = row;
	assert_int_equal(last, PIECE / sizeof(struct pkbpf_python_edge) - 1);
	calls_edges[last].calls = 1;
	assert_int_equal(calls_new_line(), 0);
	(void)state;
}

static void versions_with_other_structures_are_not_known(void **state)
{
	assert_int_equal(python_api_version("3.11.2 (main, ...)"), 0x30b);
	assert_int_equal(python_api_version("3.8.18"), 0x308);
	assert_int_equal(python_api_version("2.7.18"), 0);
	assert_true(python_api_is_known(0x308, "3.8.18"));
	assert_true(python_api_is_known(0x30d, "3.13.0"));
	assert_false(python_api_is_known(0x307, "3.7.16"));
	assert_false(python_api_is_known(0x30e, "3.14.0"));
	assert_false(python_api_is_known(0x30d, "3.13.0 experimental free-threading build"));
	(void)state;
}

static void a_file_system_keeps_room_for_others(void **state)
{
	struct statvfs small = {.f_blocks = 4000, .f_bavail = 1000, .f_frsize = 4096};
	struct statvfs large = {.f_blocks = 4000000, .f_bavail = 262144, .f_frsize = 4096};

	assert_true(leaves_room(&small));
	small.f_bavail--;
	assert_false(leaves_room(&small));
	assert_true(leaves_room(&large));
	large.f_bavail--;
	assert_false(leaves_room(&large));
	(void)state;
}

static void strings_are_kept_with_their_end(void **state)
{
	char *strings = (char *)calls_head + PKBPF_PYTHON_STRINGS_AT;
	uint32_t first = calls_put_string("fib", 3), second = calls_put_string("lenient", 3);

	assert_int_equal(first, 1);
	assert_string_equal(strings + first, "fib");
	assert_string_equal(strings + second, "len");
	assert_int_equal(calls_head->strings, 9);
	(void)state;
}

static void each_program_of_a_process_has_a_file(void **state)
{
	char first[PATH_SIZE];

	snprintf(first, sizeof(first), "%s", path);
	assert_true(calls_file_open(folder, strlen(folder), 0x30b));
	assert_string_not_equal(first, path);
	unlink(first);
	assert_false(calls_file_open("/nowhere", 8, 0x30b));
	assert_null(calls_head);
	snprintf(first, sizeof(first), "%s/calls-%d-1", folder, (int)getpid());
	assert_int_equal(unlink(first), 0);
	(void)state;
}

static void a_recursion_is_told_from_calls(void **state)
{
	struct calls_thread *thread = calls_thread_new();
	uint32_t outer = calls_new_edge(), inner = calls_new_edge();

	assert_int_equal(calls_caller(thread), 0);
	calls_enter(thread, outer, 1);
	assert_int_equal(calls_caller(thread), 1);
	calls_enter(thread, inner, 1);
	calls_enter(thread, inner, 1);
	for (int i = 0; i < 5; i++) /* two more than there are */
		calls_leave(thread);
	calls_enter(thread, outer, 1);
	assert_int_equal(calls_edges[outer].calls, 2);
	assert_int_equal(calls_edges[outer].primitive, 2);
	assert_int_equal(calls_edges[inner].calls, 2);
	assert_int_equal(calls_edges[inner].primitive, 0);
	assert_int_equal(calls_edges[inner].first, 1);
	calls_thread_clear(thread, 3);
	assert_int_equal(thread->generation, 3);
	assert_int_equal(calls_caller(thread), 0);
	calls_thread_free(thread);
	(void)state;
}

/* More edges and functions than a thread has room for at first. */
static void the_stack_of_a_thread_grows_with_its_functions(void **state)
{
	struct calls_thread *thread = calls_thread_new();
	uint32_t edge = 0;

	while (edge < 3 * FIRST_EDGES)
		edge = calls_new_edge();
	calls_enter(thread, edge, 5 * FIRST_FUNCTIONS);
	calls_enter(thread, edge, 5 * FIRST_FUNCTIONS);
	assert_int_equal(calls_edges[edge].calls, 2);
	assert_int_equal(calls_edges[edge].primitive, 1);
	assert_int_equal(calls_head->lost_calls, 0);
	calls_thread_free(thread);
	calls_thread_free(NULL);
	(void)state;
}

static void what_finds_no_room_is_lost_and_said(void **state)
{
	struct calls_thread *thread = calls_thread_new();
	uint32_t edge = calls_new_edge();

	calls_enter(thread, 0, 0); /* no row */
	assert_int_equal(calls_head->lost_calls, 1);
	for (uint32_t i = 1; i < CALLS_DEEPEST + 3; i++)
		calls_enter(thread, edge, 1);
	assert_int_equal(calls_edges[edge].calls, CALLS_DEEPEST - 1);
	assert_int_equal(calls_head->lost_calls, 4);
	for (uint32_t i = 0; i < CALLS_DEEPEST + 2; i++)
		calls_leave(thread);
	assert_int_equal(thread->depth, 1);
	calls_leave(thread);
	calls_enter(thread, edge, 1);
	assert_int_equal(calls_edges[edge].primitive, 2);
	calls_thread_free(thread);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_finds_what_was_put),
		cmocka_unit_test(versions_with_other_structures_are_not_known),
		cmocka_unit_test(a_file_system_keeps_room_for_others),
		cmocka_unit_test_setup_teardown(a_head_says_what_there_is, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_end_at_the_limit_and_when_the_file_is_gone,
						setup, teardown),
		cmocka_unit_test_setup_teardown(strings_are_kept_with_their_end, setup, teardown),
		cmocka_unit_test_setup_teardown(each_program_of_a_process_has_a_file, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_recursion_is_told_from_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(the_stack_of_a_thread_grows_with_its_functions,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_finds_no_room_is_lost_and_said, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
