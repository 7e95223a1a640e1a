// SPDX-License-Identifier: BSD-2-Clause
/* Code maps of processes from records, also when these arrive out of order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "unwind/process_tracker.h"

struct fixture {
	struct process_tracker *tracker;
	uint32_t maps_done;
};

/* The file's number is the number after the slash of its path. */
static uint32_t file_of(void *context, const struct mapping_view *mapping)
{
	return mapping->path[0] == '/' ? (uint32_t)atoi(mapping->path + 1) : MAPPING_NO_FILE;
}

static void map_done(void *context, struct code_map *map)
{
	((struct fixture *)context)->maps_done++;
}

static void begin(struct fixture *fixture, bool only_relatives)
{
	struct process_tracker_ops ops = {file_of, map_done, fixture};

	fixture->maps_done = 0;
	fixture->tracker = process_tracker_new(&ops, only_relatives);
	assert_non_null(fixture->tracker);
}

static void feed_task(struct fixture *fixture, enum pkbpf_event_kind kind, uint64_t time_ns,
		      uint32_t pid, uint32_t parent_pid, bool exec)
{
	struct task_view task = {
		.time_ns = time_ns,
		.kind = kind,
		.pid = pid,
		.tid = pid,
		.parent_pid = parent_pid,
		.parent_tid = parent_pid,
		.exec = exec,
	};

	process_tracker_on_task(fixture->tracker, &task);
}

static void fork_at(struct fixture *fixture, uint64_t time_ns, uint32_t parent_pid, uint32_t pid)
{
	feed_task(fixture, PKBPF_EVENT_FORK, time_ns, pid, parent_pid, false);
}

static void exec_at(struct fixture *fixture, uint64_t time_ns, uint32_t pid)
{
	feed_task(fixture, PKBPF_EVENT_COMM, time_ns, pid, 0, true);
}

static void map_at(struct fixture *fixture, uint64_t time_ns, uint32_t pid, uint64_t start,
		   const char *path)
{
	struct mapping_view mapping = {
		.time_ns = time_ns,
		.pid = pid,
		.tid = pid,
		.start = start,
		.end = start + 0x1000,
		.protection = PKBPF_PROT_EXEC,
		.path = path,
	};

	process_tracker_on_mapping(fixture->tracker, &mapping);
}

/* File + 1 at an address; 0: nothing known. */
static uint32_t file_at(struct fixture *fixture, uint32_t pid, uint64_t address)
{
	struct tracked_process *process = process_tracker_find(fixture->tracker, pid);
	const struct mapping *code =
		process && process->map ? mapping_list_find(&process->map->list, address) : NULL;

	return code ? code->file + 1 : 0;
}

static void a_child_shares_its_parents_map_until_it_maps(void **state)
{
	struct fixture fixture;
	struct tracked_process *parent, *child;

	begin(&fixture, false);
	map_at(&fixture, 10, 1, 0x1000, "/5");
	fork_at(&fixture, 20, 1, 2);
	parent = process_tracker_find(fixture.tracker, 1);
	child = process_tracker_find(fixture.tracker, 2);
	assert_ptr_equal(parent->map, child->map);
	map_at(&fixture, 30, 2, 0x3000, "/6");
	assert_int_equal(file_at(&fixture, 2, 0x3000), 7);
	assert_int_equal(file_at(&fixture, 2, 0x1000), 6);
	assert_int_equal(file_at(&fixture, 1, 0x3000), 0);
	process_tracker_free(fixture.tracker);
	assert_int_equal(fixture.maps_done, 2);
}

static void exec_forgets_the_old_image(void **state)
{
	struct fixture fixture;

	begin(&fixture, false);
	map_at(&fixture, 10, 1, 0x1000, "/5");
	exec_at(&fixture, 20, 1);
	assert_int_equal(file_at(&fixture, 1, 0x1000), 0);
	map_at(&fixture, 15, 1, 0x2000, "/6"); /* late news of the old image */
	assert_int_equal(file_at(&fixture, 1, 0x2000), 0);
	map_at(&fixture, 25, 1, 0x1000, "/7");
	assert_int_equal(file_at(&fixture, 1, 0x1000), 8);
	process_tracker_free(fixture.tracker);
}

/* The parent's CPU reports the fork, the child's its mappings, and the rings are read in either
 * order. */
static void a_fork_heard_of_late_is_put_below_what_the_child_did_since(void **state)
{
	struct fixture fixture;

	begin(&fixture, false);
	map_at(&fixture, 10, 1, 0x1000, "/5");
	map_at(&fixture, 10, 1, 0x2000, "/5");
	map_at(&fixture, 40, 2, 0x2000, "/6");
	fork_at(&fixture, 20, 1, 2);
	assert_int_equal(file_at(&fixture, 2, 0x1000), 6);
	assert_int_equal(file_at(&fixture, 2, 0x2000), 7);

	exec_at(&fixture, 50, 3);
	map_at(&fixture, 51, 3, 0x8000, "/9");
	fork_at(&fixture, 45, 1, 3); /* older than its exec */
	assert_int_equal(file_at(&fixture, 3, 0x1000), 0);
	assert_int_equal(file_at(&fixture, 3, 0x8000), 10);
	process_tracker_free(fixture.tracker);
}

static void a_reused_number_is_another_process(void **state)
{
	struct fixture fixture;

	begin(&fixture, false);
	map_at(&fixture, 10, 1, 0x1000, "/5");
	fork_at(&fixture, 20, 1, 2);
	map_at(&fixture, 25, 2, 0x9000, "/6");
	feed_task(&fixture, PKBPF_EVENT_EXIT, 30, 2, 0, false);
	assert_int_equal(process_tracker_find(fixture.tracker, 2)->exit_ns, 30);
	fork_at(&fixture, 40, 1, 2);
	assert_int_equal(process_tracker_find(fixture.tracker, 2)->exit_ns, 0);
	assert_int_equal(file_at(&fixture, 2, 0x9000), 0);
	assert_int_equal(file_at(&fixture, 2, 0x1000), 6);
	/* The exit of the old one, heard of late. */
	feed_task(&fixture, PKBPF_EVENT_EXIT, 31, 2, 0, false);
	assert_int_equal(process_tracker_find(fixture.tracker, 2)->exit_ns, 0);
	process_tracker_free(fixture.tracker);
}

/* As the kernel does when it executes a set-user-ID program. */
static void an_exit_announced_in_an_exec_is_none(void **state)
{
	struct fixture fixture;

	begin(&fixture, false);
	exec_at(&fixture, 20, 2);
	feed_task(&fixture, PKBPF_EVENT_EXIT, 30, 2, 0, false);
	map_at(&fixture, 29, 2, 0x1000, "/5");
	assert_int_equal(process_tracker_find(fixture.tracker, 2)->exit_ns, 30);
	map_at(&fixture, 31, 2, 0x2000, "/5");
	assert_int_equal(process_tracker_find(fixture.tracker, 2)->exit_ns, 0);
	process_tracker_free(fixture.tracker);
}

static void follows_only_relatives_when_asked(void **state)
{
	struct fixture fixture;
	struct mapping_view mapping = {
		.time_ns = 5,
		.pid = 1,
		.start = 0x1000,
		.end = 0x2000,
		.protection = PKBPF_PROT_EXEC,
		.from_snapshot = true,
		.path = "/5",
	};

	begin(&fixture, true);
	process_tracker_on_mapping(fixture.tracker, &mapping);
	map_at(&fixture, 10, 7, 0x1000, "/6");
	fork_at(&fixture, 11, 7, 8);
	exec_at(&fixture, 12, 8);
	fork_at(&fixture, 20, 1, 2);
	assert_null(process_tracker_find(fixture.tracker, 7));
	assert_null(process_tracker_find(fixture.tracker, 8));
	assert_int_equal(file_at(&fixture, 2, 0x1000), 6);
	assert_int_equal(process_tracker_count(fixture.tracker), 2);
	process_tracker_free(fixture.tracker);
}

static void what_procfs_said_makes_older_records_old_news(void **state)
{
	struct fixture fixture;
	struct tracked_process *process;
	struct code_map *map = code_map_new();

	begin(&fixture, false);
	map_at(&fixture, 10, 1, 0x1000, "/5");
	process = process_tracker_find(fixture.tracker, 1);
	assert_int_equal(mapping_list_add(&map->list, &(struct mapping){0x5000, 0x6000, 0, 3, 4}),
			 0);
	process_tracker_replace(fixture.tracker, process, map, 100);
	assert_int_equal(file_at(&fixture, 1, 0x1000), 0);
	map_at(&fixture, 90, 1, 0x1000, "/5");
	exec_at(&fixture, 80, 1);
	assert_int_equal(file_at(&fixture, 1, 0x1000), 0);
	assert_int_equal(file_at(&fixture, 1, 0x5000), 4);
	map_at(&fixture, 110, 1, 0x1000, "/5");
	assert_int_equal(file_at(&fixture, 1, 0x1000), 6);
	process_tracker_free(fixture.tracker);
}

static void knows_only_the_very_same_mapping(void **state)
{
	const struct mapping same = {0x1000, 0x2000, 0, 5, 4};
	const struct mapping others[] = {
		{0x1000, 0x3000, 0, 5, 4},
		{0x1000, 0x2000, 0x1000, 5, 4},
		{0x1000, 0x2000, 0, 6, 4},
		{0x2000, 0x3000, 0, 5, 4},
	};
	struct tracked_process *process;
	struct fixture fixture;

	begin(&fixture, false);
	process = process_tracker_follow(fixture.tracker, 1);
	assert_false(process_tracker_has(process, &same));
	map_at(&fixture, 10, 1, 0x1000, "/5");
	assert_true(process_tracker_has(process, &same));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(process_tracker_has(process, &others[i]));
	process_tracker_free(fixture.tracker);
}

static void reports_each_changed_process_once(void **state)
{
	struct fixture fixture;
	struct tracked_process *process;

	begin(&fixture, false);
	map_at(&fixture, 10, 1, 0x1000, "/5");
	map_at(&fixture, 11, 1, 0x2000, "/5");
	map_at(&fixture, 12, 2, 0x2000, "/5");
	map_at(&fixture, 13, 3, 0x2000, "/5");
	process_tracker_forget(fixture.tracker, 3);
	process = process_tracker_take_changed(fixture.tracker, 20);
	assert_int_equal(process->pid, 2);
	process = process_tracker_take_changed(fixture.tracker, 20);
	assert_int_equal(process->pid, 1);
	assert_null(process_tracker_take_changed(fixture.tracker, 20));
	map_at(&fixture, 14, 1, 0x1000, "/5"); /* as it was */
	assert_null(process_tracker_take_changed(fixture.tracker, 20));
	process_tracker_free(fixture.tracker);
}

/* Mappings from number `from` to number `to`, one page after the other. */
static void map_libraries(struct fixture *fixture, uint64_t time_ns, unsigned int from,
			  unsigned int to)
{
	for (unsigned int i = from; i <= to; i++)
		map_at(fixture, time_ns, 1, i * 0x1000ULL, "/5");
}

static bool is_taken(struct fixture *fixture, uint64_t now_ns)
{
	struct tracked_process *process = process_tracker_take_changed(fixture->tracker, now_ns);

	assert_null(process_tracker_take_changed(fixture->tracker, now_ns));
	return process != NULL;
}

static void a_start_with_many_libraries_is_shown_a_few_times(void **state)
{
	struct fixture fixture;
	unsigned int taken = 0, last = 0;

	begin(&fixture, false);
	for (unsigned int i = 1; i <= 400; i++) {
		map_libraries(&fixture, 1000 + i, i, i);
		if (is_taken(&fixture, 1000 + i)) {
			assert_true(i - last <= 1 + last / 8);
			last = i;
			taken++;
		}
	}
	assert_true(taken < 50);
	process_tracker_free(fixture.tracker);
}

static void what_is_left_is_shown_after_a_rest(void **state)
{
	struct fixture fixture;
	uint64_t later_ns = 1000 + 11 * NS_PER_MS;

	begin(&fixture, false);
	map_libraries(&fixture, 1000, 1, 100);
	assert_true(is_taken(&fixture, 1000));
	map_libraries(&fixture, 1001, 101, 101);
	assert_false(is_taken(&fixture, 1001));
	assert_true(process_tracker_find(fixture.tracker, 1)->changed);
	assert_true(process_tracker_has_changed(fixture.tracker));
	assert_true(is_taken(&fixture, later_ns));
	assert_false(process_tracker_has_changed(fixture.tracker));
	assert_false(is_taken(&fixture, later_ns + NS_PER_SECOND));
	process_tracker_free(fixture.tracker);
}

static void what_makes_the_last_wrong_is_shown_at_once(void **state)
{
	struct fixture fixture;

	begin(&fixture, false);
	fork_at(&fixture, 900, 9, 1);
	map_libraries(&fixture, 1000, 1, 100);
	assert_true(is_taken(&fixture, 1000));
	map_at(&fixture, 1001, 1, 0x5000, "/6"); /* in the place of another */
	assert_true(is_taken(&fixture, 1001));
	map_at(&fixture, 1002, 1, 0x200000, "/6");
	assert_false(is_taken(&fixture, 1002));
	process_tracker_find(fixture.tracker, 1)->urgent = true; /* somebody has missed it */
	assert_true(is_taken(&fixture, 1002));
	assert_false(process_tracker_find(fixture.tracker, 1)->urgent);
	exec_at(&fixture, 1003, 1);
	assert_true(is_taken(&fixture, 1003));
	exec_at(&fixture, 1004, 1);
	map_libraries(&fixture, 1005, 1, 1);
	assert_true(is_taken(&fixture, 1006));
	process_tracker_free(fixture.tracker);
}

static void a_new_process_under_an_old_number_is_shown_at_once(void **state)
{
	struct fixture fixture;

	begin(&fixture, false);
	fork_at(&fixture, 900, 9, 1);
	map_libraries(&fixture, 1000, 1, 100);
	assert_true(is_taken(&fixture, 1000));
	fork_at(&fixture, 1001, 9, 1);
	map_libraries(&fixture, 1002, 1, 2);
	assert_true(is_taken(&fixture, 1002));
	process_tracker_free(fixture.tracker);
}

static void a_published_map_is_never_changed_in_place(void **state)
{
	struct fixture fixture;
	struct tracked_process *process;
	struct code_map *published;

	begin(&fixture, false);
	map_at(&fixture, 10, 1, 0x1000, "/5");
	process = process_tracker_find(fixture.tracker, 1);
	published = code_map_share(process->map);
	published->published_count = 1;
	code_map_drop(published);
	map_at(&fixture, 20, 1, 0x2000, "/6");
	assert_int_equal(fixture.maps_done, 1);
	assert_int_equal(process->map->published_count, 0);
	assert_int_equal(process->map->list.count, 2);
	process_tracker_free(fixture.tracker);
}

static void forked_workers_found_running_share_one_map(void **state)
{
	struct fixture fixture;
	struct tracked_process *worker;
	struct task_view task = {
		.time_ns = 5,
		.kind = PKBPF_EVENT_FORK,
		.pid = 2,
		.tid = 2,
		.parent_pid = 1,
		.parent_tid = 1,
		.from_snapshot = true,
	};

	begin(&fixture, false);
	process_tracker_on_task(fixture.tracker, &task);
	task.pid = task.tid = 3;
	process_tracker_on_task(fixture.tracker, &task);
	for (uint32_t pid = 1; pid <= 3; pid++)
		map_at(&fixture, 5, pid, 0x1000, "/5");
	map_at(&fixture, 5, 3, 0x4000, "/5");
	worker = process_tracker_find(fixture.tracker, 2);
	assert_ptr_equal(process_tracker_share_with_parent(fixture.tracker, worker),
			 process_tracker_find(fixture.tracker, 1)->map);
	assert_int_equal(fixture.maps_done, 1);
	worker = process_tracker_find(fixture.tracker, 3);
	assert_ptr_not_equal(process_tracker_share_with_parent(fixture.tracker, worker),
			     process_tracker_find(fixture.tracker, 1)->map);
	process_tracker_free(fixture.tracker);
}

static void ignores_what_is_no_user_code(void **state)
{
	struct fixture fixture;
	struct mapping_view mapping = {.time_ns = 10, .pid = 1, .path = "[vsyscall]"};

	begin(&fixture, false);
	mapping.start = 0xffffffffff600000ULL;
	mapping.end = 0xffffffffff601000ULL;
	mapping.protection = PKBPF_PROT_EXEC;
	process_tracker_on_mapping(fixture.tracker, &mapping);
	assert_int_equal(file_at(&fixture, 1, mapping.start), 0);
	mapping.start = 0x7fffffffe000;
	mapping.end = 0x7ffffffff000;
	mapping.path = "[uprobes]";
	process_tracker_on_mapping(fixture.tracker, &mapping);
	assert_int_equal(file_at(&fixture, 1, mapping.start), 0);
	mapping.start = mapping.end = 0x1000;
	process_tracker_on_mapping(fixture.tracker, &mapping);
	map_at(&fixture, 11, 1, 0x1000, "/5");
	mapping.start = 0x1000;
	mapping.end = 0x2000;
	mapping.time_ns = 12;
	mapping.protection = 3; /* no longer executable */
	process_tracker_on_mapping(fixture.tracker, &mapping);
	assert_int_equal(file_at(&fixture, 1, 0x1000), 0);
	map_at(&fixture, 11, 0, 0x1000, "/5"); /* the idle task maps nothing */
	assert_null(process_tracker_find(fixture.tracker, 0));
	process_tracker_free(fixture.tracker);
}

static void marks_the_files_of_everybodys_mappings(void **state)
{
	struct fixture fixture;
	bool is_used[8] = {false};

	begin(&fixture, false);
	map_at(&fixture, 10, 1, 0x1000, "/5");
	map_at(&fixture, 11, 1, 0x3000, "/2");
	fork_at(&fixture, 20, 1, 2);
	map_at(&fixture, 30, 2, 0x1000, "/6"); /* the parent still has 5 there */
	map_at(&fixture, 31, 3, 0x1000, "/9"); /* beyond */
	process_tracker_mark_files(fixture.tracker, is_used, 8);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(is_used[i], i == 5 || i == 2 || i == 6);
	process_tracker_free(fixture.tracker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_shares_its_parents_map_until_it_maps),
		cmocka_unit_test(exec_forgets_the_old_image),
		cmocka_unit_test(a_fork_heard_of_late_is_put_below_what_the_child_did_since),
		cmocka_unit_test(a_reused_number_is_another_process),
		cmocka_unit_test(an_exit_announced_in_an_exec_is_none),
		cmocka_unit_test(follows_only_relatives_when_asked),
		cmocka_unit_test(what_procfs_said_makes_older_records_old_news),
		cmocka_unit_test(knows_only_the_very_same_mapping),
		cmocka_unit_test(reports_each_changed_process_once),
		cmocka_unit_test(a_start_with_many_libraries_is_shown_a_few_times),
		cmocka_unit_test(what_is_left_is_shown_after_a_rest),
		cmocka_unit_test(what_makes_the_last_wrong_is_shown_at_once),
		cmocka_unit_test(a_new_process_under_an_old_number_is_shown_at_once),
		cmocka_unit_test(a_published_map_is_never_changed_in_place),
		cmocka_unit_test(forked_workers_found_running_share_one_map),
		cmocka_unit_test(ignores_what_is_no_user_code),
		cmocka_unit_test(marks_the_files_of_everybodys_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
