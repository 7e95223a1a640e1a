// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/process_table: which image and which mapping an address belongs to at each
 * moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process_table_fixture.h"

static void knows_what_ran_before_the_start(void **state)
{
	struct fixture *fixture = *state;
	struct process *process;

	fake_process(fixture->machine, 100, 1, "server");
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0x1000, "/usr/bin/server");
	play(fixture);
	process = process_table_find(fixture->table, 100);
	assert_non_null(process);
	assert_int_equal(process->pid, 100);
	assert_int_equal(process->parent_pid, 1);
	assert_string_equal(process->comm, "server");
	assert_int_equal(process->start_ns, 0);
	assert_int_equal(process->end_ns, 0);
	assert_false(process->started_inside);
	assert_int_equal(process->thread_count, 1);
	assert_string_equal(path_at(fixture, 100, 0x400000), "/usr/bin/server");
	assert_int_equal(mapping_at(fixture, 100, 0x400000)->file_offset, 0x1000);
	assert_string_equal(path_at(fixture, 100, 0x500000), "nothing");
	assert_null(process_table_find(fixture->table, 1));
}

static void marks_the_files_that_somebody_has_mapped(void **state)
{
	struct fixture *fixture = *state;
	bool is_used[3] = {false};

	fake_process(fixture->machine, 100, 1, "server");
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0x1000, "/usr/bin/server");
	fake_process(fixture->machine, 101, 1, "other");
	fake_map(fixture->machine, 101, 0x400000, 0x500000, 0x1000, "/usr/bin/other");
	fake_map(fixture->machine, 101, 0x400000, 0x500000, 0x1000, "/usr/bin/third");
	play(fixture);
	assert_int_equal(mapped_file_table_count(process_table_files(fixture->table)), 3);
	process_table_mark_files(fixture->table, is_used);
	assert_true(is_used[mapping_at(fixture, 100, 0x400000)->file]);
	assert_true(is_used[mapping_at(fixture, 101, 0x400000)->file]);
	assert_int_equal(is_used[0] + is_used[1] + is_used[2], 2);
}

static void what_there_is_no_room_for_is_not_taken_for_what_was_there(void **state)
{
	struct mapping_view other = {
		.pid = 1, .start = 0x1000, .end = 0x2000, .protection = 5, .path = "/other"};
	struct fixture *fixture = *state;
	struct mapped_file *ignored;

	fake_process(fixture->machine, 100, 1, "server");
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0x1000, "/usr/bin/server");
	play(fixture);
	assert_string_equal(path_at(fixture, 100, 0x400000), "/usr/bin/server");
	for (other.inode = 1;
	     !mapped_file_table_add(process_table_files(fixture->table), &other, &ignored);
	     other.inode++)
		;
	fake_map(fixture->machine, 100, 0x400000, 0x480000, 0, "/usr/lib/plugin");
	play(fixture);
	assert_string_equal(path_at(fixture, 100, 0x400000), "refused");
	assert_string_equal(path_at(fixture, 100, 0x480000), "/usr/bin/server");
	assert_int_equal(process_table_dropped(fixture->table), 1);
}

static void forked_child_inherits_comm_and_mappings_of_that_moment(void **state)
{
	struct fixture *fixture = *state;
	struct process *child;

	fake_process(fixture->machine, 100, 1, "server");
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0, "/usr/bin/server");
	fake_fork(fixture->machine, 100, 101);
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0, "/usr/bin/other");
	fake_map(fixture->machine, 101, 0x600000, 0x700000, 0, "/lib/child.so");
	play(fixture);
	child = process_table_find(fixture->table, 101);
	assert_string_equal(child->comm, "server");
	assert_int_equal(child->parent_pid, 100);
	assert_true(child->started_inside);
	assert_false(child->execed);
	assert_int_equal(child->start_ns, FAKE_START_NS + 3 * FAKE_STEP_NS);
	assert_string_equal(path_at(fixture, 101, 0x400000), "/usr/bin/server");
	assert_string_equal(path_at(fixture, 101, 0x600000), "/lib/child.so");
	assert_string_equal(path_at(fixture, 100, 0x400000), "/usr/bin/other");
	assert_string_equal(path_at(fixture, 100, 0x600000), "nothing");
}

static void exec_begins_an_incarnation_without_the_old_mappings(void **state)
{
	struct fixture *fixture = *state;
	struct process *before, *after;

	fake_process(fixture->machine, 100, 7, "sh");
	fake_map(fixture->machine, 100, 0x400000, 0x500000, 0, "/bin/sh");
	play(fixture);
	before = process_table_get(fixture->table, 100, "sh");
	fake_exec(fixture->machine, 100, "ls");
	fake_map(fixture->machine, 100, 0x600000, 0x700000, 0, "/bin/ls");
	play(fixture);
	after = process_table_get(fixture->table, 100, "ls");
	assert_true(before->id != after->id);
	assert_string_equal(before->comm, "sh");
	assert_int_equal(before->end_ns, after->start_ns);
	assert_string_equal(after->comm, "ls");
	assert_true(after->execed);
	assert_int_equal(after->parent_pid, 7);
	assert_int_equal(after->thread_count, 1);
	assert_null(process_table_mappings(fixture->table, before));
	assert_string_equal(path_at(fixture, 100, 0x400000), "nothing");
	assert_string_equal(path_at(fixture, 100, 0x600000), "/bin/ls");
}

static void thread_announced_twice_counts_once(void **state)
{
	struct fixture *fixture = *state;

	fake_process(fixture->machine, 100, 1, "pool");
	fake_thread(fixture->machine, 100, 101);
	fake_thread(fixture->machine, 100, 101);
	fake_thread(fixture->machine, 100, 100);
	play(fixture);
	assert_int_equal(process_table_find(fixture->table, 100)->thread_count, 2);
	fake_exit(fixture->machine, 100, 101);
	fake_exit(fixture->machine, 100, 101);
	play(fixture);
	assert_int_equal(process_table_find(fixture->table, 100)->end_ns, 0);
	fake_exit(fixture->machine, 100, 100);
	play(fixture);
	assert_true(process_table_find(fixture->table, 100)->end_ns != 0);
}

static void renaming_a_thread_does_not_rename_the_process(void **state)
{
	struct fixture *fixture = *state;

	fake_process(fixture->machine, 100, 1, "main");
	fake_thread(fixture->machine, 100, 101);
	fake_comm(fixture->machine, 100, 101, "worker");
	play(fixture);
	assert_string_equal(process_table_find(fixture->table, 100)->comm, "main");
	fake_comm(fixture->machine, 100, 100, "renamed");
	play(fixture);
	assert_string_equal(process_table_find(fixture->table, 100)->comm, "renamed");
}

static void dlopen_over_unmapped_code_shows_the_new_library(void **state)
{
	struct fixture *fixture = *state;

	fake_process(fixture->machine, 100, 1, "host");
	fake_map(fixture->machine, 100, 0x7f0000000000, 0x7f0000010000, 0, "/lib/plugin-a.so");
	play(fixture);
	assert_string_equal(path_at(fixture, 100, 0x7f0000004000), "/lib/plugin-a.so");
	/* munmap sends no record; the next library comes to lie partly over the old one */
	fake_map(fixture->machine, 100, 0x7f0000003000, 0x7f0000008000, 0x2000, "/lib/plugin-b.so");
	play(fixture);
	assert_string_equal(path_at(fixture, 100, 0x7f0000002fff), "/lib/plugin-a.so");
	assert_string_equal(path_at(fixture, 100, 0x7f0000004000), "/lib/plugin-b.so");
	assert_string_equal(path_at(fixture, 100, 0x7f0000008000), "/lib/plugin-a.so");
	assert_int_equal(mapping_at(fixture, 100, 0x7f0000008000)->file_offset, 0x8000);
}

static void data_mapped_over_code_hides_it(void **state)
{
	struct fixture *fixture = *state;
	struct mapping_view data = {
		.pid = 100, .start = 0x1000, .end = 0x2000, .protection = 3, .path = "//anon"};

	fake_process(fixture->machine, 100, 1, "host");
	fake_map(fixture->machine, 100, 0x1000, 0x4000, 0, "/lib/a.so");
	fake_map_view(fixture->machine, &data);
	play(fixture);
	assert_string_equal(path_at(fixture, 100, 0x1000), "nothing");
	assert_string_equal(path_at(fixture, 100, 0x2000), "/lib/a.so");
}

static void generated_code_is_anonymous_and_the_vdso_a_file_of_its_own(void **state)
{
	struct fixture *fixture = *state;

	fake_process(fixture->machine, 100, 1, "node");
	fake_map(fixture->machine, 100, 0x1000, 0x2000, 0, "//anon");
	fake_map(fixture->machine, 100, 0x7fff00000000, 0x7fff00002000, 0, "[vdso]");
	play(fixture);
	assert_string_equal(path_at(fixture, 100, 0x1000), "anonymous");
	assert_string_equal(path_at(fixture, 100, 0x7fff00000000), "[vdso]");
	assert_int_equal(mapped_file_table_get(fixture->files,
					       mapping_at(fixture, 100, 0x7fff00000000)->file)
				 ->type,
			 MAPPED_FILE_VDSO);
}

static void processes_that_map_one_file_share_its_identity(void **state)
{
	struct fixture *fixture = *state;

	fake_process(fixture->machine, 100, 1, "a");
	fake_map(fixture->machine, 100, 0x1000, 0x2000, 0, "/lib/libc.so.6");
	fake_process(fixture->machine, 101, 1, "b");
	fake_map(fixture->machine, 101, 0x5000, 0x6000, 0, "/lib/libc.so.6");
	fake_map(fixture->machine, 101, 0x7000, 0x8000, 0, "/lib/libm.so.6");
	play(fixture);
	assert_ptr_equal(mapping_at(fixture, 100, 0x1000)->file,
			 mapping_at(fixture, 101, 0x5000)->file);
	assert_int_equal(mapped_file_table_count(fixture->files), 2);
}

static void sample_of_an_unknown_pid_makes_an_empty_process(void **state)
{
	struct fixture *fixture = *state;
	struct process *process = process_table_get(fixture->table, 77, "ghost");

	assert_non_null(process);
	assert_string_equal(process->comm, "ghost");
	assert_int_equal(process->thread_count, 1);
	assert_false(process->started_inside);
	assert_null(process_table_mappings(fixture->table, process));
	assert_ptr_equal(process_table_get(fixture->table, 77, "other"), process);
	assert_string_equal(process->comm, "ghost");
	/* Its threads and mappings may be announced afterwards. */
	fake_thread(fixture->machine, 77, 78);
	fake_map(fixture->machine, 77, 0x1000, 0x2000, 0, "/bin/ghost");
	play(fixture);
	assert_int_equal(process->thread_count, 2);
	assert_string_equal(path_at(fixture, 77, 0x1000), "/bin/ghost");
}

static void procfs_does_not_undo_what_live_records_said(void **state)
{
	struct fixture *fixture = *state;
	struct process *process;

	fake_process(fixture->machine, 1, 0, "init");
	fake_fork(fixture->machine, 1, 100);
	fake_exec(fixture->machine, 100, "tool");
	fake_map(fixture->machine, 100, 0x1000, 0x2000, 0, "/bin/tool");
	play(fixture);
	process = process_table_get(fixture->table, 100, "tool");
	fake_process(fixture->machine, 100, 1, "tool");
	fake_map(fixture->machine, 100, 0x1000, 0x2000, 0, "/bin/tool");
	play(fixture);
	assert_ptr_equal(process_table_find(fixture->table, 100), process);
	assert_true(process->execed);
	assert_int_equal(process->thread_count, 1);
	assert_string_equal(path_at(fixture, 100, 0x1000), "/bin/tool");
}

static void short_processes_nobody_sampled_leave_nothing_behind(void **state)
{
	struct fixture *fixture = *state;
	struct process *sampled = NULL;
	size_t after_warming = 0;

	fake_process(fixture->machine, 10, 1, "make");
	fake_map(fixture->machine, 10, 0x1000, 0x2000, 0, "/bin/make");
	for (uint32_t i = 0; i < 5000; i++) {
		uint32_t pid = 1000 + i;

		fake_fork(fixture->machine, 10, pid);
		fake_exec(fixture->machine, pid, "cc1");
		fake_map(fixture->machine, pid, 0x1000, 0x2000, 0, "/bin/cc1");
		play(fixture);
		if (i == 2500)
			sampled = process_table_get(fixture->table, pid, "cc1");
		fake_exit(fixture->machine, pid, pid);
		if (i == 2500)
			after_warming = process_table_count(fixture->table);
	}
	play(fixture);
	/* Those of PROCESS_LATE_NS, at four or five milliseconds each. */
	assert_true(after_warming < 1500);
	assert_true(process_table_count(fixture->table) <= after_warming + 1);
	assert_ptr_equal(process_table_by_id(fixture->table, sampled->id), sampled);
	assert_int_equal(sampled->pid, 3500);
	assert_string_equal(sampled->comm, "cc1");
	assert_int_equal(mapped_file_table_count(fixture->files), 2);
	assert_int_equal(process_table_dropped(fixture->table), 0);
}

static void fork_storm_keeps_every_child_on_its_parents_mappings(void **state)
{
	struct fixture *fixture = *state;

	fake_process(fixture->machine, 10, 1, "zygote");
	for (uint64_t i = 0; i < 300; i++)
		fake_map(fixture->machine, 10, 0x100000 * (i + 1), 0x100000 * (i + 1) + 0x1000, 0,
			 "/lib/x.so");
	for (uint32_t pid = 1000; pid < 11000; pid++)
		fake_fork(fixture->machine, 10, pid);
	fake_map(fixture->machine, 5000, 0x100000, 0x101000, 0, "/lib/y.so");
	play(fixture);
	assert_int_equal(process_table_count(fixture->table), 10001);
	assert_string_equal(path_at(fixture, 1000, 0x100000), "/lib/x.so");
	assert_string_equal(path_at(fixture, 10999, 0x100000 * 300), "/lib/x.so");
	assert_string_equal(path_at(fixture, 5000, 0x100000), "/lib/y.so");
	assert_string_equal(path_at(fixture, 5001, 0x100000), "/lib/x.so");
}

static void thousands_of_threads_are_counted_and_forgotten(void **state)
{
	struct fixture *fixture = *state;

	fake_process(fixture->machine, 10, 1, "jvm");
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t tid = 1000; tid < 11000; tid++)
			fake_thread(fixture->machine, 10, tid);
		play(fixture);
		assert_int_equal(process_table_find(fixture->table, 10)->thread_count, 10001);
		for (uint32_t tid = 1000; tid < 11000; tid++)
			fake_exit(fixture->machine, 10, tid);
		play(fixture);
		assert_int_equal(process_table_find(fixture->table, 10)->thread_count, 1);
	}
}

static void ids_that_were_never_given_are_unknown(void **state)
{
	struct fixture *fixture = *state;

	assert_null(process_table_by_id(fixture->table, 0));
	assert_null(process_table_by_id(fixture->table, UINT32_MAX));
	assert_int_equal(process_table_count(fixture->table), 0);
	assert_ptr_equal(process_table_files(fixture->table), fixture->files);
}

#define TABLE_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TABLE_TEST(knows_what_ran_before_the_start),
		TABLE_TEST(marks_the_files_that_somebody_has_mapped),
		TABLE_TEST(what_there_is_no_room_for_is_not_taken_for_what_was_there),
		TABLE_TEST(forked_child_inherits_comm_and_mappings_of_that_moment),
		TABLE_TEST(exec_begins_an_incarnation_without_the_old_mappings),
		TABLE_TEST(thread_announced_twice_counts_once),
		TABLE_TEST(renaming_a_thread_does_not_rename_the_process),
		TABLE_TEST(dlopen_over_unmapped_code_shows_the_new_library),
		TABLE_TEST(data_mapped_over_code_hides_it),
		TABLE_TEST(generated_code_is_anonymous_and_the_vdso_a_file_of_its_own),
		TABLE_TEST(processes_that_map_one_file_share_its_identity),
		TABLE_TEST(sample_of_an_unknown_pid_makes_an_empty_process),
		TABLE_TEST(procfs_does_not_undo_what_live_records_said),
		TABLE_TEST(short_processes_nobody_sampled_leave_nothing_behind),
		TABLE_TEST(fork_storm_keeps_every_child_on_its_parents_mappings),
		TABLE_TEST(thousands_of_threads_are_counted_and_forgotten),
		TABLE_TEST(ids_that_were_never_given_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
