// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/regions/region_files and source/mapped_table: which files have probes, and how
 * large tables are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "temp_tree.h"
#include "source/mapped_table.h"
#include "source/regions/region_files.h"

static bool note(struct region_files *files, struct temp_tree *tree, const char *name)
{
	int fd = open(temp_tree_path(tree, name), O_RDONLY | O_CLOEXEC);
	bool is_new;

	assert_true(fd >= 0);
	is_new = region_files_note_probed(files, fd);
	close(fd);
	return is_new;
}

/* Until a change of a file is later than its last one. Kernels without fine-grained times change
 * them once a tick. */
static void wait_for_a_later_time(struct temp_tree *tree, const char *name)
{
	struct timespec last = temp_tree_stat(tree, name).st_ctim, now = last;

	temp_tree_file(tree, "clock", "");
	while (now.tv_sec == last.tv_sec && now.tv_nsec == last.tv_nsec) {
		assert_int_equal(chmod(temp_tree_path(tree, "clock"), 0600), 0);
		now = temp_tree_stat(tree, "clock").st_ctim;
	}
}

static void a_file_gets_probes_once(void **state)
{
	struct region_files files = {0};
	struct temp_tree tree;

	temp_tree_init(&tree);
	temp_tree_file(&tree, "a", "text");
	temp_tree_file(&tree, "b", "text");
	assert_true(note(&files, &tree, "a"));
	assert_false(note(&files, &tree, "a"));
	assert_true(note(&files, &tree, "b"));
	assert_false(note(&files, &tree, "a"));
	wait_for_a_later_time(&tree, "b");
	assert_int_equal(link(temp_tree_path(&tree, "b"), temp_tree_path(&tree, "c")), 0);
	/* The link has changed the inode's time of change. */
	assert_true(note(&files, &tree, "c"));
	assert_false(note(&files, &tree, "b"));
	/* Overwritten in place, it is another program. */
	temp_tree_file(&tree, "a", "longer text");
	assert_true(note(&files, &tree, "a"));
	assert_false(region_files_note_probed(&files, -1));
	region_files_done(&files);
	temp_tree_done(&tree);
}

static void a_file_is_looked_at_again_when_its_id_is_that_of_another(void **state)
{
	struct mapped_file file = {.id = 3, .inode = 7, .device_major = 8, .device_minor = 1};
	struct region_files files = {0};

	assert_true(region_files_is_new(&files, &file));
	assert_false(region_files_is_new(&files, &file));
	file.inode = 8;
	assert_true(region_files_is_new(&files, &file));
	file.device_major = 9;
	assert_true(region_files_is_new(&files, &file));
	file.device_minor = 2;
	assert_true(region_files_is_new(&files, &file));
	assert_false(region_files_is_new(&files, &file));
	file.id = 0;
	assert_true(region_files_is_new(&files, &file));
	region_files_done(&files);
}

static void a_file_that_was_forgotten_is_new_again(void **state)
{
	struct region_files files = {0};
	struct mapped_file file = {.id = 1, .device_major = 8}, other = {.id = 2, .inode = 1};
	struct temp_tree tree;
	struct stat stat;

	temp_tree_init(&tree);
	temp_tree_file(&tree, "a", "text");
	temp_tree_file(&tree, "b", "text");
	assert_true(note(&files, &tree, "a"));
	assert_true(note(&files, &tree, "b"));
	stat = temp_tree_stat(&tree, "a");
	file.inode = stat.st_ino;
	assert_true(region_files_is_new(&files, &file));
	assert_true(region_files_is_new(&files, &other));
	region_files_forget(&files, &stat);
	assert_true(region_files_is_new(&files, &file));
	assert_false(region_files_is_new(&files, &other));
	assert_true(note(&files, &tree, "a"));
	assert_false(note(&files, &tree, "b"));
	region_files_done(&files);
	temp_tree_done(&tree);
}

static void tables_are_halved_until_they_fit(void **state)
{
	assert_int_equal(mapped_table_bound(1024, 16, 100, 0, 4), 1024);
	assert_int_equal(mapped_table_bound(1024, 16, 100, 4 * 102400, 4), 1024);
	assert_int_equal(mapped_table_bound(1024, 16, 100, 4 * 102399, 4), 512);
	assert_int_equal(mapped_table_bound(1024, 16, 100, 4 * 12800, 4), 128);
	assert_int_equal(mapped_table_bound(1024, 16, 100, 1, 4), 16);
	assert_int_equal(mapped_table_bound(1024, 1000, 100, 1, 1), 1000);
	assert_int_equal(mapped_table_bound(8, 16, 100, 0, 1), 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_gets_probes_once),
		cmocka_unit_test(a_file_is_looked_at_again_when_its_id_is_that_of_another),
		cmocka_unit_test(a_file_that_was_forgotten_is_new_again),
		cmocka_unit_test(tables_are_halved_until_they_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
