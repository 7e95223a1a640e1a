// SPDX-License-Identifier: BSD-2-Clause
/* Tests for the rights of processes, and files that are opened with them. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/file/file_servers.h"
#include "process/process_home.h"
#include "temp_tree.h"

#define STATUS(uid, groups)                                                                        \
	"Name:\tx\nUid:\t1\t2\t3\t" uid "\nGid:\t5\t6\t7\t" uid "\nGroups:\t" groups "\n"

static void rights_are_those_for_files(void **state)
{
	struct file_rights rights;
	char many[1024] = "Uid:\t0\t0\t0\t9\nGid:\t0\t0\t0\t8\nGroups:\t";

	assert_int_equal(file_rights_parse(STATUS("4", "27 100 "), &rights), 0);
	assert_int_equal(rights.uid, 4);
	assert_int_equal(rights.gid, 4);
	assert_int_equal(rights.group_count, 2);
	assert_int_equal(rights.groups[1], 100);
	assert_int_equal(file_rights_parse(STATUS("4", " "), &rights), 0);
	assert_int_equal(rights.group_count, 0);
	for (int i = 0; i < 70; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "%d ", i);
	assert_int_equal(file_rights_parse(many, &rights), 0);
	assert_int_equal(rights.group_count, FILE_RIGHTS_MAX_GROUPS);
	assert_int_equal(file_rights_parse("Name:\tx\nUid:\t1\t2\t3\n", &rights), -EBADMSG);
	assert_int_equal(file_rights_parse("", &rights), -EBADMSG);
}

struct fixture {
	struct temp_tree tree;
	struct file_servers *servers;
};

static int setup(void **state)
{
	static struct fixture fixture;
	char text[256];

	temp_tree_init(&fixture.tree);
	temp_tree_file(&fixture.tree, "proc/self/mountinfo", "");
	snprintf(text, sizeof(text), "Uid:\t0\t0\t0\t%u\nGid:\t0\t0\t0\t%u\n", geteuid(),
		 getegid());
	temp_tree_file(&fixture.tree, "proc/7/status", text);
	temp_tree_file(&fixture.tree, "proc/8/status",
		       "Uid:\t0\t0\t0\t61234\nGid:\t0\t0\t0\t61234\nGroups:\t61235\n");
	temp_tree_file(&fixture.tree, "proc/7/root/file", "7");
	temp_tree_file(&fixture.tree, "proc/8/root/open", "open");
	temp_tree_file(&fixture.tree, "proc/8/root/closed", "closed");
	temp_tree_file(&fixture.tree, "proc/8/root/group", "group");
	temp_tree_file(&fixture.tree, "proc/8/root/folder/open", "open");
	assert_int_equal(chmod(fixture.tree.root, 0755), 0);
	assert_int_equal(chmod(temp_tree_path(&fixture.tree, "proc/8/root/closed"), 0600), 0);
	assert_int_equal(chmod(temp_tree_path(&fixture.tree, "proc/8/root/group"), 0640), 0);
	if (geteuid() == 0)
		assert_int_equal(
			chown(temp_tree_path(&fixture.tree, "proc/8/root/group"), 0, 61235), 0);
	assert_int_equal(chmod(temp_tree_path(&fixture.tree, "proc/8/root/folder"), 0700), 0);
	assert_int_equal(mkfifo(temp_tree_path(&fixture.tree, "proc/7/root/fifo"), 0600), 0);
	fixture.servers = file_servers_new(fixture.tree.root);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	file_servers_free(fixture->servers);
	temp_tree_done(&fixture->tree);
	return 0;
}

/* The first letter, or the error. */
static int open_named(struct fixture *fixture, uint32_t pid, const char *path)
{
	const struct named_file file = {.root = fixture->tree.root, .pid = pid, .path = path};
	char letter = 0;
	struct stat st;
	int fd = file_servers_open_named(fixture->servers, &file, &st);

	if (fd < 0)
		return fd;
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(read(fd, &letter, 1), 1);
	close(fd);
	return letter;
}

static void a_file_is_opened_with_the_rights_of_its_process(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(open_named(fixture, 7, "/file"), '7');
	if (geteuid() != 0) {
		/* What every user may read; that is all there is without the right to change
		 * to others. */
		assert_int_equal(open_named(fixture, 8, "/open"), 'o');
		assert_int_equal(open_named(fixture, 8, "/closed"), -EPERM);
		return;
	}
	assert_int_equal(open_named(fixture, 8, "/open"), 'o');
	assert_int_equal(open_named(fixture, 8, "/group"), 'g');
	assert_int_equal(open_named(fixture, 8, "/closed"), -EACCES);
	assert_int_equal(open_named(fixture, 8, "/folder/open"), -EACCES);
	/* They are not kept. */
	assert_int_equal(open_named(fixture, 0, "/proc/8/root/closed"), 'c');
	assert_int_equal(open_named(fixture, 7, "/file"), '7');
}

static void only_regular_files_of_living_processes_are_opened(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(open_named(fixture, 7, "/fifo"), -EINVAL);
	assert_int_equal(open_named(fixture, 7, "/"), -EINVAL);
	assert_int_equal(open_named(fixture, 7, "/none"), -ENOENT);
	assert_int_equal(open_named(fixture, 9, "/file"), -ENOENT);
}

/* It ends when it has nothing to do. */
static void the_process_that_opens_files_is_started_again(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(open_named(fixture, 7, "/file"), '7');
	usleep(1300000);
	assert_int_equal(open_named(fixture, 7, "/file"), '7');
}

static void home_is_that_of_a_process_that_lives(void **state)
{
	struct fixture *fixture = *state;
	struct process_home home;

	process_home_read("", (uint32_t)getpid(), &home);
	assert_true(home.is_known);
	assert_true(home.is_ours);
	assert_int_equal(home.uid, geteuid());
	process_home_read(fixture->tree.root, 8, &home);
	assert_true(home.is_known);
	assert_false(home.is_ours);
	assert_int_equal(home.uid, 61234);
	process_home_read(fixture->tree.root, 9, &home);
	assert_false(home.is_known);
}

/* The only child of this thread; 0: it has none. */
static int child(void)
{
	FILE *file = fopen("/proc/thread-self/children", "re");
	int pid = 0;

	assert_non_null(file);
	if (fscanf(file, "%d", &pid) != 1)
		pid = 0;
	fclose(file);
	return pid;
}

static void a_process_that_is_kept_opens_files_later_too(void **state)
{
	struct fixture *fixture = *state;
	int first;

	file_servers_keep_opener(fixture->servers);
	first = child();
	assert_int_not_equal(first, 0);
	/* Others end after a second. */
	usleep(1200000);
	assert_int_equal(open_named(fixture, 7, "/file"), '7');
	assert_int_equal(child(), first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		cmocka_unit_test(rights_are_those_for_files),
		TEST(a_file_is_opened_with_the_rights_of_its_process),
		TEST(only_regular_files_of_living_processes_are_opened),
		TEST(the_process_that_opens_files_is_started_again),
		TEST(a_process_that_is_kept_opens_files_later_too),
		TEST(home_is_that_of_a_process_that_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
