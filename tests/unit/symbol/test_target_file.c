// SPDX-License-Identifier: BSD-2-Clause
/* Tests that files are opened inside the root of a process and nowhere else. */
#include "symbol/target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/pkbpf-target-XXXXXX";

static void run_in_root(const char *command)
{
	char line[2048];

	snprintf(line, sizeof(line), "cd '%s' && { %s; }", root, command);
	assert_int_equal(system(line), 0);
}

static int start(void **state)
{
	strcpy(root, "/tmp/pkbpf-target-XXXXXX");
	assert_non_null(mkdtemp(root));
	run_in_root("mkdir -p proc/7/root/tmp etc proc/7/root/etc;"
		    "echo outside > etc/file; echo inside > proc/7/root/etc/file;"
		    "ln -s /etc/file proc/7/root/tmp/absolute;"
		    "ln -s ../../../../../../etc/file proc/7/root/tmp/climbing;"
		    "ln -s ../etc proc/7/root/folder;"
		    "mkfifo proc/7/root/tmp/fifo");
	return 0;
}

static int stop(void **state)
{
	run_in_root("rm -rf proc etc");
	return rmdir(root);
}

/* The first letter of the file: 'i'nside, 'o'utside; or the error. */
static int open_and_read(uint32_t pid, const char *path, bool follow)
{
	struct stat st;
	int fd = target_file_open(NULL, root, pid, path, follow, &st);
	char letter;

	if (fd < 0)
		return fd;
	assert_int_equal(read(fd, &letter, 1), 1);
	assert_true(S_ISREG(st.st_mode));
	close(fd);
	return letter;
}

static void opens_in_the_root_that_was_meant(void **state)
{
	assert_int_equal(open_and_read(7, "/etc/file", false), 'i');
	assert_int_equal(open_and_read(0, "/etc/file", false), 'o');
}

static void links_stay_inside_the_root(void **state)
{
	assert_int_equal(open_and_read(7, "/tmp/absolute", true), 'i');
	assert_int_equal(open_and_read(7, "/tmp/climbing", true), 'i');
	assert_int_equal(open_and_read(7, "/../../../etc/file", true), 'i');
	assert_int_equal(open_and_read(7, "/folder/file", false), 'i');
}

static void last_link_is_followed_only_when_asked(void **state)
{
	assert_true(open_and_read(7, "/tmp/absolute", false) < 0);
}

static void only_regular_files_are_opened(void **state)
{
	assert_int_equal(open_and_read(7, "/tmp/fifo", true), -EINVAL);
	assert_int_equal(open_and_read(7, "/tmp", true), -EINVAL);
	assert_int_equal(open_and_read(7, "/nothing", true), -ENOENT);
	assert_int_equal(open_and_read(8, "/etc/file", true), -ENOENT);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		test(opens_in_the_root_that_was_meant),
		test(links_stay_inside_the_root),
		test(last_link_is_followed_only_when_asked),
		test(only_regular_files_are_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
