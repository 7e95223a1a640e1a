// SPDX-License-Identifier: BSD-2-Clause
/* Tests which user the front becomes, and what is given to it. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/serve_user.h"
#include "temp_tree.h"

#define STRANGER 61234

static struct temp_tree tree;

static int setup(void **state)
{
	(void)state;
	temp_tree_init(&tree);
	return chmod(tree.root, 0755);
}

static int teardown(void **state)
{
	(void)state;
	temp_tree_done(&tree);
	return 0;
}

static const char *store_path(void)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/store", tree.root);
	return path;
}

static uid_t owner_of(const char *name)
{
	struct stat st;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", tree.root, name);
	assert_int_equal(lstat(path, &st), 0);
	return st.st_uid;
}

/* The user that a child becomes; -1: an error, which stderr tells. */
static int64_t become(const char *name)
{
	int ends[2], status;
	int64_t uid = -1;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		struct error error;
		bool is_root;
		int fd = serve_user_become(name, store_path(), &is_root, &error);

		uid = geteuid();
		if (fd < 0)
			uid = -1;
		/* It is not to be had back, and the store can still be written. */
		if (uid > 0 &&
		    (seteuid(0) == 0 || openat(fd, "written", O_CREAT | O_WRONLY, 0600) < 0))
			uid = -2;
		if (write(ends[1], &uid, sizeof(uid)) != sizeof(uid))
			_exit(1);
		_exit(0);
	}
	assert_int_equal(read(ends[0], &uid, sizeof(uid)), sizeof(uid));
	assert_int_equal(waitpid(child, &status, 0), child);
	close(ends[0]);
	close(ends[1]);
	return uid;
}

static void store_of_root_is_given_away(void **state)
{
	char path[4096], link_path[4096];

	(void)state;
	if (geteuid() != 0)
		skip();
	temp_tree_file(&tree, "store/slice/a", "a");
	temp_tree_file(&tree, "precious", "p");
	snprintf(path, sizeof(path), "%s/precious", tree.root);
	snprintf(link_path, sizeof(link_path), "%s/store/hard", tree.root);
	assert_int_equal(link(path, link_path), 0);
	snprintf(link_path, sizeof(link_path), "%s/store/soft", tree.root);
	assert_int_equal(symlink(path, link_path), 0);
	assert_true(become(NULL) > 0);
	assert_int_not_equal(owner_of("store"), 0);
	assert_int_equal(owner_of("store/slice"), owner_of("store"));
	assert_int_equal(owner_of("store/slice/a"), owner_of("store"));
	assert_int_equal(owner_of("store/written"), owner_of("store"));
	assert_int_equal(owner_of("precious"), 0);
	/* The next start is that user's. */
	assert_int_equal(become(NULL), owner_of("store"));
}

/* Where the owner could have put links, nothing is given. */
static void store_of_somebody_is_left_as_it_is(void **state)
{
	char path[4096];

	(void)state;
	if (geteuid() != 0)
		skip();
	temp_tree_file(&tree, "store/slice/a", "a");
	snprintf(path, sizeof(path), "%s/store", tree.root);
	assert_int_equal(chown(path, STRANGER, STRANGER), 0);
	assert_int_equal(become(NULL), STRANGER);
	assert_int_equal(owner_of("store/slice/a"), 0);
}

static void store_that_was_planted_is_refused(void **state)
{
	char path[4096];

	(void)state;
	if (geteuid() != 0)
		skip();
	temp_tree_folder(&tree, "store");
	snprintf(path, sizeof(path), "%s/store", tree.root);
	assert_int_equal(chown(path, STRANGER, STRANGER), 0);
	assert_int_equal(chmod(tree.root, 01777), 0);
	assert_int_equal(become(NULL), -1);
	/* What root has made there is root's. */
	assert_int_equal(chown(path, 0, 0), 0);
	assert_true(become(NULL) > 0);
	assert_int_equal(become(NULL), owner_of("store"));
}

static void root_stays_root_when_asked(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	temp_tree_folder(&tree, "store");
	assert_int_equal(become("root"), 0);
	assert_int_equal(owner_of("store"), 0);
	assert_int_equal(become("nobody_of_this_name"), -1);
}

static void store_of_somebody_is_given_to_who_is_named(void **state)
{
	char path[4096];

	(void)state;
	if (geteuid() != 0)
		skip();
	temp_tree_file(&tree, "store/slice/a", "a");
	temp_tree_file(&tree, "store/slice/b", "b");
	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = {"store", "store/slice", "store/slice/a"};

		snprintf(path, sizeof(path), "%s/%s", tree.root, names[i]);
		assert_int_equal(chown(path, STRANGER, STRANGER), 0);
	}
	assert_int_equal(become("root"), 0);
	assert_int_equal(owner_of("store"), 0);
	assert_int_equal(owner_of("store/slice/a"), 0);
	/* And what was somebody else's stays. */
	snprintf(path, sizeof(path), "%s/store/slice/b", tree.root);
	assert_int_equal(chown(path, STRANGER, STRANGER), 0);
	assert_true(become(NULL) > 0);
	assert_int_equal(owner_of("store/slice/b"), STRANGER);
}

static void what_root_alone_may_use_is_known(void **state)
{
	char path[4096];

	(void)state;
	if (geteuid() != 0)
		skip();
	temp_tree_file(&tree, "open/hook", "");
	temp_tree_file(&tree, "closed/hook", "");
	snprintf(path, sizeof(path), "%s/open", tree.root);
	assert_int_equal(chmod(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/open/hook with words", tree.root);
	assert_false(serve_user_may_run(path));
	assert_false(serve_user_may_write(path));
	snprintf(path, sizeof(path), "%s/open/hook", tree.root);
	assert_int_equal(chmod(path, 0755), 0);
	assert_true(serve_user_may_run(path));
	snprintf(path, sizeof(path), "%s/open/hook with words", tree.root);
	assert_true(serve_user_may_run(path));
	snprintf(path, sizeof(path), "%s/closed/hook", tree.root);
	assert_int_equal(chmod(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/closed", tree.root);
	assert_int_equal(chmod(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/closed/hook", tree.root);
	assert_false(serve_user_may_run(path));
	snprintf(path, sizeof(path), "%s/open", tree.root);
	assert_int_equal(chown(path, STRANGER, STRANGER), 0);
	snprintf(path, sizeof(path), "%s/open/x.prom", tree.root);
	assert_true(serve_user_may_write(path));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(store_of_root_is_given_away),
		TEST(store_of_somebody_is_left_as_it_is),
		TEST(store_that_was_planted_is_refused),
		TEST(store_of_somebody_is_given_to_who_is_named),
		TEST(what_root_alone_may_use_is_known),
		TEST(root_stays_root_when_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
