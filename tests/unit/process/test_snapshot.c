// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/snapshot: a procfs on paper, and our own entry in the real one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "event/decoder.h"
#include "process/process_table.h"
#include "process/snapshot.h"
#include "temp_tree.h"

#define AT_NS 777

struct fixture {
	struct temp_tree tree;
	struct event_buffer buffer;
	struct mapped_file_table *files;
	struct process_table *table;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	temp_tree_init(&fixture->tree);
	fixture->files = mapped_file_table_new("");
	fixture->table = process_table_new(fixture->files);
	*state = fixture;
	return fixture->table ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	process_table_free(fixture->table);
	mapped_file_table_free(fixture->files);
	event_buffer_done(&fixture->buffer);
	temp_tree_done(&fixture->tree);
	free(fixture);
	return 0;
}

static void add_stat(struct fixture *fixture, uint32_t pid, const char *comm, char process_state,
		     int parent_pid, unsigned int flags, unsigned int threads)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "%u/stat", pid);
	snprintf(text, sizeof(text),
		 "%u (%s) %c %d 10 10 0 -1 %u 1 2 3 4 5 6 7 8 20 0 %u 0 1234 1000000 50\n", pid,
		 comm, process_state, parent_pid, flags, threads);
	temp_tree_file(&fixture->tree, path, text);
}

static void add_maps(struct fixture *fixture, uint32_t pid, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "%u/maps", pid);
	temp_tree_file(&fixture->tree, path, text);
}

static void add_thread(struct fixture *fixture, uint32_t pid, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "%u/task/%u", pid, tid);
	temp_tree_folder(&fixture->tree, path);
}

static struct snapshot_stats take(struct fixture *fixture, const uint32_t *pids, size_t count)
{
	struct snapshot_stats stats = {0};
	struct event_sink sink = process_table_sink(fixture->table);
	size_t offset = 0;

	assert_int_equal(snapshot_processes(fixture->tree.root, pids, count, AT_NS,
					    &fixture->buffer, &stats),
			 0);
	while (offset < fixture->buffer.size) {
		struct pkbpf_event_header *header = (void *)(fixture->buffer.data + offset);
		int size = event_decode(header, fixture->buffer.size - offset, &sink);

		assert_true(size > 0);
		assert_int_equal(header->time_ns, AT_NS);
		if (header->kind != PKBPF_EVENT_EXIT)
			assert_true(header->flags & PKBPF_FROM_SNAPSHOT);
		offset += (size_t)size;
	}
	return stats;
}

static const struct mapping *mapping_at(struct fixture *fixture, uint32_t pid, uint64_t address)
{
	struct process *process = process_table_find(fixture->table, pid);
	const struct address_space *space =
		process ? process_table_mappings(fixture->table, process) : NULL;

	return space ? address_space_find(space, address) : NULL;
}

#define USUAL_MAPS                                                                                 \
	"1000-2000 r--p 00000000 08:01 11 /bin/app\n"                                              \
	"2000-3000 r-xp 00001000 08:01 11 /bin/app\n"                                              \
	"4000-5000 rw-p 00000000 00:00 0 [heap]\n"                                                 \
	"7fff00000000-7fff00002000 r-xp 00000000 00:00 0 [vdso]\n"

static void writes_down_processes_with_their_executable_mappings(void **state)
{
	struct fixture *fixture = *state;
	struct snapshot_stats stats;

	add_stat(fixture, 100, "app", 'S', 1, 0, 1);
	add_maps(fixture, 100, USUAL_MAPS);
	add_stat(fixture, 200, "other", 'R', 100, 0, 1);
	add_maps(fixture, 200, USUAL_MAPS);
	temp_tree_file(&fixture->tree, "meminfo", "not a process");
	temp_tree_file(&fixture->tree, "12x/stat", "not a process");
	stats = take(fixture, NULL, 0);
	assert_int_equal(stats.processes, 2);
	assert_int_equal(stats.mappings, 4);
	assert_int_equal(stats.vanished, 0);
	assert_int_equal(stats.unreadable, 0);
	assert_int_equal(process_table_count(fixture->table), 2);
	assert_string_equal(process_table_find(fixture->table, 200)->comm, "other");
	assert_int_equal(process_table_find(fixture->table, 200)->parent_pid, 100);
	assert_false(process_table_find(fixture->table, 200)->started_inside);
	assert_string_equal(
		mapped_file_table_get(fixture->files, mapping_at(fixture, 100, 0x2000)->file)->path,
		"/bin/app");
	assert_int_equal(mapping_at(fixture, 100, 0x2000)->file_offset, 0x1000);
	assert_int_equal(mapped_file_table_get(fixture->files,
					       mapping_at(fixture, 100, 0x7fff00000000)->file)
				 ->type,
			 MAPPED_FILE_VDSO);
	assert_null(mapping_at(fixture, 100, 0x1000));
	assert_null(mapping_at(fixture, 100, 0x4000));
	assert_int_equal(mapped_file_table_count(fixture->files), 2);
}

static void comm_may_look_like_the_rest_of_the_line(void **state)
{
	static const struct {
		const char *comm, *expected;
	} rows[] = {
		{"a) S 5 (b", "a) S 5 (b"},
		{")", ")"},
		{"((((", "(((("},
		{"", ""},
		{"two\nlines", "two\nlines"},
		{") R 1 1 1", ") R 1 1 1"},
		{"kworker/u16:3-events_unbound", "kworker/u16:3-e"},
	};
	struct fixture *fixture = *state;

	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
		add_stat(fixture, 100 + i, rows[i].comm, 'S', 7, 0, 1);
		add_maps(fixture, 100 + i, "");
	}
	take(fixture, NULL, 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct process *process = process_table_find(fixture->table, 100 + i);

		assert_non_null(process);
		assert_string_equal(process->comm, rows[i].expected);
		assert_int_equal(process->parent_pid, 7);
	}
}

static void counts_threads_also_when_the_leader_has_ended(void **state)
{
	struct fixture *fixture = *state;
	struct process *process;

	add_stat(fixture, 100, "pool", 'S', 1, 0, 3);
	add_maps(fixture, 100, USUAL_MAPS);
	add_thread(fixture, 100, 100);
	add_thread(fixture, 100, 101);
	add_thread(fixture, 100, 102);
	add_stat(fixture, 200, "headless", 'Z', 1, 0, 2);
	add_maps(fixture, 200, "");
	add_maps(fixture, 201, USUAL_MAPS);
	add_thread(fixture, 200, 200);
	add_thread(fixture, 200, 201);
	take(fixture, (const uint32_t[]){100, 200}, 2);
	assert_int_equal(process_table_find(fixture->table, 100)->thread_count, 3);
	process = process_table_find(fixture->table, 200);
	assert_int_equal(process->thread_count, 1);
	assert_int_equal(process->end_ns, 0);
	assert_non_null(mapping_at(fixture, 200, 0x2000));
}

static void leaves_out_zombies_and_the_memory_of_kernel_threads(void **state)
{
	struct fixture *fixture = *state;
	struct snapshot_stats stats;

	add_stat(fixture, 2, "kthreadd", 'S', 0, 0x00208040, 1); /* has no maps file here */
	add_stat(fixture, 300, "zombie", 'Z', 1, 0, 1);
	stats = take(fixture, NULL, 0);
	assert_int_equal(stats.processes, 1);
	assert_int_equal(stats.vanished, 0);
	assert_string_equal(process_table_find(fixture->table, 2)->comm, "kthreadd");
	assert_null(process_table_find(fixture->table, 300));
}

static void leaves_out_what_vanished_half_way_and_counts_it(void **state)
{
	struct fixture *fixture = *state;
	struct snapshot_stats stats;

	add_stat(fixture, 100, "no-maps", 'S', 1, 0, 1);
	temp_tree_folder(&fixture->tree, "101");
	add_stat(fixture, 102, "no-task", 'S', 1, 0, 5);
	add_maps(fixture, 102, USUAL_MAPS);
	temp_tree_file(&fixture->tree, "103/stat", "");
	temp_tree_file(&fixture->tree, "104/stat", "104 (cut) S");
	temp_tree_file(&fixture->tree, "105/stat", "105 (cut) S 1 2 3");
	add_stat(fixture, 106, "whole", 'S', 1, 0, 1);
	add_maps(fixture, 106, USUAL_MAPS);
	stats = take(fixture, NULL, 0);
	assert_int_equal(stats.processes, 1);
	assert_int_equal(stats.mappings, 2);
	assert_int_equal(stats.vanished, 6);
	assert_int_equal(process_table_count(fixture->table), 1);
	assert_non_null(process_table_find(fixture->table, 106));
}

static void takes_only_the_pids_asked_for(void **state)
{
	static const uint32_t pids[] = {101, 999};
	struct fixture *fixture = *state;
	struct snapshot_stats stats;

	for (uint32_t pid = 100; pid < 103; pid++) {
		add_stat(fixture, pid, "app", 'S', 1, 0, 1);
		add_maps(fixture, pid, USUAL_MAPS);
	}
	stats = take(fixture, pids, ARRAY_SIZE(pids));
	assert_int_equal(stats.processes, 1);
	assert_int_equal(stats.vanished, 1);
	assert_non_null(process_table_find(fixture->table, 101));
	assert_null(process_table_find(fixture->table, 100));
}

static void an_empty_list_of_pids_is_nobody(void **state)
{
	struct fixture *fixture = *state;
	uint32_t nobody = 0;

	add_stat(fixture, 100, "app", 'S', 1, 0, 1);
	add_maps(fixture, 100, USUAL_MAPS);
	assert_int_equal(take(fixture, &nobody, 0).processes, 0);
	assert_int_equal(fixture->buffer.size, 0);
}

static void appends_and_leaves_the_buffer_alone_on_error(void **state)
{
	struct fixture *fixture = *state;
	struct task_view task = {.time_ns = AT_NS, .kind = PKBPF_EVENT_EXIT, .pid = 9, .tid = 9};
	struct snapshot_stats stats = {.processes = 55};
	size_t size;

	assert_int_equal(event_encode_task(&fixture->buffer, &task), 0);
	size = fixture->buffer.size;
	assert_int_equal(
		snapshot_processes("/nonexistent/proc", NULL, 0, AT_NS, &fixture->buffer, &stats),
		-ENOENT);
	assert_int_equal(fixture->buffer.size, size);
	assert_int_equal(stats.processes, 55);
	add_stat(fixture, 100, "app", 'S', 1, 0, 1);
	add_maps(fixture, 100, USUAL_MAPS);
	take(fixture, NULL, 0);
	assert_true(fixture->buffer.size > size);
}

static void finds_its_own_text_in_the_real_procfs(void **state)
{
	struct fixture *fixture = *state;
	uint32_t own_pid = (uint32_t)getpid();
	struct snapshot_stats stats = {0};
	struct event_sink sink = process_table_sink(fixture->table);
	const struct mapping *mapping;

	assert_int_equal(snapshot_processes("/proc", NULL, 0, AT_NS, &fixture->buffer, &stats), 0);
	assert_true(stats.processes >= 1);
	for (size_t offset = 0; offset < fixture->buffer.size;) {
		int size = event_decode(fixture->buffer.data + offset,
					fixture->buffer.size - offset, &sink);

		assert_true(size > 0);
		offset += (size_t)size;
	}
	mapping = mapping_at(fixture, own_pid,
			     (uint64_t)(uintptr_t)finds_its_own_text_in_the_real_procfs);
	assert_non_null(mapping);
	assert_true(mapping_has_file(mapping));
	assert_non_null(strstr(mapped_file_table_get(fixture->files, mapping->file)->path,
			       program_invocation_short_name));
	assert_int_equal(process_table_find(fixture->table, own_pid)->parent_pid, getppid());
}

#define SNAPSHOT_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SNAPSHOT_TEST(writes_down_processes_with_their_executable_mappings),
		SNAPSHOT_TEST(comm_may_look_like_the_rest_of_the_line),
		SNAPSHOT_TEST(counts_threads_also_when_the_leader_has_ended),
		SNAPSHOT_TEST(leaves_out_zombies_and_the_memory_of_kernel_threads),
		SNAPSHOT_TEST(leaves_out_what_vanished_half_way_and_counts_it),
		SNAPSHOT_TEST(takes_only_the_pids_asked_for),
		SNAPSHOT_TEST(an_empty_list_of_pids_is_nobody),
		SNAPSHOT_TEST(appends_and_leaves_the_buffer_alone_on_error),
		SNAPSHOT_TEST(finds_its_own_text_in_the_real_procfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
