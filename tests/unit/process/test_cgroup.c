// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/cgroup/cgroup: paths by id, by handles and by a search. */
#include "process/cgroup/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "temp_tree.h"

static int path_without_descriptors(struct cgroup_root *root, uint64_t id)
{
	struct rlimit limit, none;
	char path[PATH_MAX];
	int err;

	getrlimit(RLIMIT_NOFILE, &limit);
	none = (struct rlimit){0, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	err = cgroup_root_path(root, id, path, sizeof(path));
	setrlimit(RLIMIT_NOFILE, &limit);
	return err;
}

/* Handles are root's; without them the tree is searched. */
static void searches_without_handles(void **state)
{
	struct temp_tree tree;
	struct cgroup_root *root;
	uint64_t deep, removed;
	uid_t user = geteuid();
	char path[PATH_MAX];

	temp_tree_init(&tree);
	temp_tree_folder(&tree, "a/b/c");
	temp_tree_folder(&tree, "d");
	temp_tree_file(&tree, "file", "not a cgroup");
	assert_int_equal(chmod(tree.root, 0755), 0);
	deep = temp_tree_stat(&tree, "a/b/c").st_ino;
	removed = temp_tree_stat(&tree, "d").st_ino;
	assert_int_equal(rmdir(temp_tree_path(&tree, "d")), 0);
	root = cgroup_root_open_at(tree.root);
	assert_non_null(root);
	if (user == 0)
		assert_int_equal(seteuid(65534), 0);
	assert_int_equal(cgroup_root_path(root, deep, path, sizeof(path)), 0);
	assert_string_equal(path, "/a/b/c");
	assert_int_equal(cgroup_root_path(root, cgroup_root_id(root), path, sizeof(path)), 0);
	assert_string_equal(path, "/");
	assert_int_equal(cgroup_root_path(root, removed, path, sizeof(path)), -ENOENT);
	assert_int_equal(
		cgroup_root_path(root, temp_tree_stat(&tree, "file").st_ino, path, sizeof(path)),
		-ENOENT);
	assert_int_equal(cgroup_root_path(root, 0, path, sizeof(path)), -ENOENT);
	assert_int_equal(cgroup_root_path(root, UINT64_MAX, path, sizeof(path)), -ENOENT);
	/* No room for the path. */
	assert_int_equal(cgroup_root_path(root, deep, path, 6), -ENAMETOOLONG);
	assert_int_equal(cgroup_root_path(root, deep, path, 7), 0);
	/* Not found is not gone. */
	assert_int_equal(path_without_descriptors(root, deep), -EMFILE);
	assert_int_equal(seteuid(user), 0);
	cgroup_root_close(root);
	temp_tree_done(&tree);
}

static void knows_where_it_is(void **state)
{
	struct temp_tree tree;
	struct cgroup_root *root;
	char real[PATH_MAX];

	temp_tree_init(&tree);
	temp_tree_folder(&tree, "real");
	temp_tree_link(&tree, "link", "real");
	temp_tree_file(&tree, "file", "");
	root = cgroup_root_open_at(temp_tree_path(&tree, "link"));
	assert_non_null(root);
	assert_non_null(realpath(temp_tree_path(&tree, "real"), real));
	assert_string_equal(cgroup_root_folder(root), real);
	assert_int_equal(cgroup_root_id(root), temp_tree_stat(&tree, "real").st_ino);
	cgroup_root_close(root);
	assert_null(cgroup_root_open_at(temp_tree_path(&tree, "file")));
	assert_null(cgroup_root_open_at(temp_tree_path(&tree, "none")));
	cgroup_root_close(NULL);
	temp_tree_done(&tree);
}

/* The hierarchy of this machine, if it has one, with a cgroup of our own, if we may. */
static void finds_a_cgroup_until_it_is_removed(void **state)
{
	struct cgroup_root *root = cgroup_root_open();
	char path[PATH_MAX], folder[PATH_MAX], name[64];
	struct stat status;

	if (!root) {
		assert_int_equal(errno, ENOENT);
		skip();
	}
	assert_int_equal(strncmp(cgroup_root_folder(root), "/sys/fs/cgroup", 14), 0);
	assert_int_equal(cgroup_root_path(root, cgroup_root_id(root), path, sizeof(path)), 0);
	assert_string_equal(path, "/");
	snprintf(name, sizeof(name), "/pkbpf-unit-%d", (int)getpid());
	snprintf(folder, sizeof(folder), "%.4000s%s", cgroup_root_folder(root), name);
	if (mkdir(folder, 0755) == 0) {
		assert_int_equal(stat(folder, &status), 0);
		assert_int_equal(cgroup_root_path(root, status.st_ino, path, sizeof(path)), 0);
		assert_string_equal(path, name);
		/* Not searched for, from then on: there would be none. */
		assert_int_equal(path_without_descriptors(root, status.st_ino), -EMFILE);
		assert_int_equal(cgroup_root_path(root, status.st_ino, path, 4), -ENAMETOOLONG);
		assert_int_equal(rmdir(folder), 0);
		assert_int_equal(cgroup_root_path(root, status.st_ino, path, sizeof(path)),
				 -ENOENT);
	}
	cgroup_root_close(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(searches_without_handles),
		cmocka_unit_test(knows_where_it_is),
		cmocka_unit_test(finds_a_cgroup_until_it_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
