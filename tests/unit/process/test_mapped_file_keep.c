// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/mapped_file_keep: files stay readable, and neither descriptors nor the disk run
 * out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mapped_file_fixture.h"

static void assert_contents(int fd, const char *text)
{
	char buffer[64] = "";

	assert_true(fd >= 0);
	assert_true(pread(fd, buffer, sizeof(buffer) - 1, 0) >= 0);
	assert_string_equal(buffer, text);
}

static void what_was_opened_can_be_read_after_its_name_has_gone(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file;

	temp_tree_file(&fixture->tree, "app", "contents");
	file = map_file(fixture, "app", "/app");
	assert_contents(mapped_file_open(fixture->table, file), "contents");
	unlink(temp_tree_path(&fixture->tree, "app"));
	assert_contents(mapped_file_open(fixture->table, file), "contents");
}

static size_t count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void a_forgotten_file_is_closed(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file, *other;
	bool is_used[2] = {false, false};
	size_t before = count_descriptors();

	temp_tree_file(&fixture->tree, "app", "contents");
	temp_tree_file(&fixture->tree, "other", "more");
	file = map_file(fixture, "app", "/app");
	other = map_file(fixture, "other", "/other");
	assert_contents(mapped_file_open(fixture->table, file), "contents");
	assert_contents(mapped_file_open(fixture->table, other), "more");
	is_used[other->id] = true;
	assert_int_equal(mapped_file_table_forget(fixture->table, is_used), 0);
	assert_int_equal(count_descriptors(), before + 1);
	assert_contents(mapped_file_open(fixture->table, other), "more");
	file = map_file(fixture, "app", "/app");
	assert_contents(mapped_file_open(fixture->table, file), "contents");
}

static void keeps_no_more_descriptors_than_half_of_the_limit(void **state)
{
	struct fixture *fixture = *state;
	struct rlimit limit, small;
	struct mapped_file *files[100];
	size_t before = count_descriptors();

	getrlimit(RLIMIT_NOFILE, &limit);
	small = (struct rlimit){64, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
	/* The table is older than this limit. */
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 100; i++) {
			char path[32], text[32];

			snprintf(path, sizeof(path), "/lib%d", i);
			snprintf(text, sizeof(text), "text %d", i);
			if (round == 0) {
				temp_tree_file(&fixture->tree, path + 1, text);
				files[i] = map_file(fixture, path + 1, path);
			}
			assert_contents(mapped_file_open(fixture->table, files[i]), text);
			/* used again and again: never the one that is closed */
			assert_contents(mapped_file_open(fixture->table, files[0]), "text 0");
			assert_true(count_descriptors() <= before + 32);
		}
	}
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Files made, opened and deleted one after the other, each of `bytes` that lie in a hole; how many
 * are still open. */
static size_t open_and_delete(struct fixture *fixture, int count, off_t bytes)
{
	size_t before = count_descriptors();

	for (int i = 0; i < count; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/test%d", i);
		temp_tree_file(&fixture->tree, path + 1, "a program");
		assert_int_equal(truncate(temp_tree_path(&fixture->tree, path + 1), bytes), 0);
		assert_true(mapped_file_open(fixture->table, map_file(fixture, path + 1, path)) >=
			    0);
		unlink(temp_tree_path(&fixture->tree, path + 1));
	}
	return count_descriptors() - before;
}

static void deleted_files_take_no_more_of_the_disk_than_allowed(void **state)
{
	struct fixture *fixture = *state;
	off_t bytes = MAPPED_FILES_MAX_DELETED_BYTES / 16;
	struct mapped_file *installed, *first;

	temp_tree_file(&fixture->tree, "lib", "installed");
	installed = map_file(fixture, "lib", "/lib");
	temp_tree_file(&fixture->tree, "first", "deleted");
	first = map_file(fixture, "first", "/first");
	assert_contents(mapped_file_open(fixture->table, first), "deleted");
	unlink(temp_tree_path(&fixture->tree, "first"));
	assert_contents(mapped_file_open(fixture->table, installed), "installed");
	/* Looked at now and then only: some more may be open meanwhile, but not all. */
	assert_in_range(open_and_delete(fixture, 200, bytes), 8, 16 + 32);
	assert_int_equal(mapped_file_open(fixture->table, first), -ENOENT);
	assert_contents(mapped_file_open(fixture->table, installed), "installed");
}

/* The file at `path` as a record about a mapping has it, which knows the generation of the inode.
 */
static struct mapped_file *map_numbered(struct fixture *fixture, const struct stat *status,
					const char *path, uint32_t generation)
{
	struct mapping_view view = {
		.inode_generation = generation,
		.pid = 7,
		.start = 0x1000,
		.end = 0x2000,
		.inode = status->st_ino,
		.device_major = major(status->st_dev),
		.device_minor = minor(status->st_dev),
		.path = path,
	};
	struct mapped_file *file = NULL;

	assert_int_equal(mapped_file_table_add(fixture->table, &view, &file), 0);
	return file;
}

static void a_generation_belongs_to_the_file_that_is_open_or_was_never_looked_at(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *first, *open, *closed;
	struct stat first_status, open_status, closed_status;

	temp_tree_file(&fixture->tree, "first", "never looked at");
	first_status = temp_tree_stat(&fixture->tree, "first");
	first = map_file(fixture, "first", "/first");
	assert_ptr_equal(map_numbered(fixture, &first_status, "/first", 5), first);

	temp_tree_file(&fixture->tree, "closed", "deleted");
	closed_status = temp_tree_stat(&fixture->tree, "closed");
	closed = map_file(fixture, "closed", "/closed");
	assert_contents(mapped_file_open(fixture->table, closed), "deleted");
	unlink(temp_tree_path(&fixture->tree, "closed"));
	open_and_delete(fixture, 200, MAPPED_FILES_MAX_DELETED_BYTES / 16);
	assert_ptr_not_equal(map_numbered(fixture, &closed_status, "/closed", 5), closed);
	assert_ptr_equal(map_numbered(fixture, &closed_status, "/closed", 5),
			 map_numbered(fixture, &closed_status, "/closed", 5));

	temp_tree_file(&fixture->tree, "open", "contents");
	open_status = temp_tree_stat(&fixture->tree, "open");
	open = map_file(fixture, "open", "/open");
	assert_contents(mapped_file_open(fixture->table, open), "contents");
	assert_ptr_equal(map_numbered(fixture, &open_status, "/open", 5), open);
}

static void small_deleted_files_are_kept(void **state)
{
	assert_int_equal(open_and_delete(*state, 200, 16384), 200);
}

#define KEEP_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEEP_TEST(what_was_opened_can_be_read_after_its_name_has_gone),
		KEEP_TEST(a_forgotten_file_is_closed),
		KEEP_TEST(keeps_no_more_descriptors_than_half_of_the_limit),
		KEEP_TEST(deleted_files_take_no_more_of_the_disk_than_allowed),
		KEEP_TEST(a_generation_belongs_to_the_file_that_is_open_or_was_never_looked_at),
		KEEP_TEST(small_deleted_files_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
