// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/durable_file: content, name and directory reach the disk in this order, and what
 * fails leaves the old content. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/durable_file.h"
#include "base/file_io.h"
#include "temp_tree.h"

static struct temp_tree tree;
static int folder = -1;
static char steps[128]; /* "file named directory": what was synced, and with which names there */
static int sync_errno;	/* of the next fsync() of a file */

/* In the place of the C library's, for all of this program. */
int fsync(int fd)
{
	struct stat st;
	bool is_named = folder >= 0 && faccessat(folder, "name", F_OK, 0) == 0;

	if (fstat(fd, &st) < 0)
		return -1;
	strcat(steps, S_ISDIR(st.st_mode) ? "directory" : "file");
	strcat(steps, is_named ? "+name " : " ");
	if (!S_ISDIR(st.st_mode) && sync_errno) {
		errno = sync_errno;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

static int setup(void **state)
{
	(void)state;
	temp_tree_init(&tree);
	folder = open(tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	steps[0] = '\0';
	sync_errno = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(folder);
	folder = -1;
	temp_tree_done(&tree);
	return 0;
}

static int write_text(const char *text, int err)
{
	struct durable_file file;

	assert_int_equal(durable_file_open(&file, folder, ".new", 0600), 0);
	fputs(text, file.stream);
	return durable_file_close(&file, "name", err);
}

static void assert_content(const char *expected)
{
	size_t size;
	char *text;

	assert_int_equal(file_read_all(folder, "name", 100, &text, &size), 0);
	assert_string_equal(text, expected);
	free(text);
	assert_int_equal(faccessat(folder, ".new", F_OK, 0), -1);
}

static void syncs_the_content_before_the_name_and_the_directory_after_it(void **state)
{
	(void)state;
	assert_int_equal(write_text("first", 0), 0);
	assert_content("first");
	assert_string_equal(steps, "file directory+name ");
}

static void what_failed_leaves_the_content_before(void **state)
{
	(void)state;
	assert_int_equal(write_text("first", 0), 0);
	assert_int_equal(write_text("second", -ENODATA), -ENODATA);
	assert_content("first");
	sync_errno = EIO;
	assert_int_equal(write_text("third", 0), -EIO);
	assert_content("first");
	/* A file system without it is no error. */
	sync_errno = EINVAL;
	assert_int_equal(write_text("fourth", 0), 0);
	assert_content("fourth");
}

static void a_directory_that_is_gone_is_an_error(void **state)
{
	struct durable_file file;

	(void)state;
	assert_int_equal(durable_file_open(&file, -1, ".new", 0600), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			syncs_the_content_before_the_name_and_the_directory_after_it, setup,
			teardown),
		cmocka_unit_test_setup_teardown(what_failed_leaves_the_content_before, setup,
						teardown),
		cmocka_unit_test(a_directory_that_is_gone_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
