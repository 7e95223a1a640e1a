// SPDX-License-Identifier: BSD-2-Clause
/* Tests that paths stay below a root, by the kernel and step by step. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/file/path_in_root.h"
#include "temp_tree.h"

static struct temp_tree tree;
static int root_fd;

static int setup(void **state)
{
	temp_tree_init(&tree);
	temp_tree_file(&tree, "etc/file", "outside");
	temp_tree_file(&tree, "root/etc/file", "inside");
	temp_tree_file(&tree, "root/a/b/c", "deep");
	temp_tree_link(&tree, "root/absolute", "/etc/file");
	temp_tree_link(&tree, "root/climbing", "../../../../etc/file");
	temp_tree_link(&tree, "root/a/folder", "../etc");
	temp_tree_link(&tree, "root/chain", "a/folder/file");
	temp_tree_link(&tree, "root/self", "self");
	temp_tree_link(&tree, "root/nowhere", "/none");
	root_fd = open(temp_tree_path(&tree, "root"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

static int teardown(void **state)
{
	close(root_fd);
	temp_tree_done(&tree);
	return 0;
}

typedef int (*open_fn)(int fd, const char *path, bool follow);

/* The first letter of the file, or the error. */
static int letter_of(open_fn open_path, const char *path, bool follow)
{
	int path_fd = open_path(root_fd, path, follow), fd;
	char name[64], letter = 0;

	if (path_fd < 0)
		return path_fd;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &letter, 1), 1);
	close(fd);
	close(path_fd);
	return letter;
}

static void nothing_leads_out_of_the_root(void **state)
{
	static const struct {
		const char *path;
		bool follow;
		int expected;
	} rows[] = {
		{"/etc/file", false, 'i'},
		{"etc/file", true, 'i'},
		{"//etc/./file", true, 'i'},
		{"/../../../etc/file", true, 'i'},
		{"/a/b/../../etc/file", true, 'i'},
		{"/a/b/c", true, 'd'},
		{"/absolute", true, 'i'},
		{"/climbing", true, 'i'},
		{"/chain", true, 'i'},
		{"/a/folder/file", false, 'i'},
		{"/absolute", false, -ELOOP},
		{"/self", true, -ELOOP},
		{"/self/x", false, -ELOOP},
		{"/nowhere", true, -ENOENT},
		{"/none", true, -ENOENT},
		{"/etc/file/x", true, -ENOTDIR},
	};
	static const open_fn functions[] = {path_in_root_open, path_in_root_walk};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t j = 0; j < 2; j++) {
			int found = letter_of(functions[j], rows[i].path, rows[i].follow);

			if (found != rows[i].expected)
				fail_msg("%s by function %zu: %d", rows[i].path, j, found);
		}
}

static void what_is_not_open_to_all_is_refused(void **state)
{
	assert_int_equal(letter_of(path_in_root_open_to_all, "/a/b/c", true), 'd');
	assert_int_equal(letter_of(path_in_root_open_to_all, "/chain", true), 'i');
	assert_int_equal(chmod(temp_tree_path(&tree, "root/a/b/c"), 0640), 0);
	assert_int_equal(chmod(temp_tree_path(&tree, "root/etc"), 0750), 0);
	assert_int_equal(path_in_root_open_to_all(root_fd, "/a/b/c", true), -EACCES);
	assert_int_equal(path_in_root_open_to_all(root_fd, "/chain", true), -EACCES);
	assert_int_equal(path_in_root_open_to_all(root_fd, "/a/../etc/file", true), -EACCES);
}

static void long_paths_and_deep_ones_are_refused(void **state)
{
	char path[PATH_MAX + 16];

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(path_in_root_walk(root_fd, path, true), -ENAMETOOLONG);
	path[300] = '\0';
	assert_int_equal(path_in_root_walk(root_fd, path, true), -ENAMETOOLONG);
}

static void no_descriptor_is_left(void **state)
{
	int before = dup(root_fd), after;

	close(before);
	close(path_in_root_walk(root_fd, "/a/b/c", true));
	path_in_root_walk(root_fd, "/a/b/none", true);
	path_in_root_walk(root_fd, "/self", true);
	after = dup(root_fd);
	close(after);
	assert_int_equal(before, after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(nothing_leads_out_of_the_root),
		TEST(what_is_not_open_to_all_is_refused),
		TEST(long_paths_and_deep_ones_are_refused),
		TEST(no_descriptor_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
