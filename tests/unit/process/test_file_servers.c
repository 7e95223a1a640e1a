// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/file_servers: copies of what servers give, and little time for those that give
 * nothing. */
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
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "process/file/file_servers.h"
#include "process/file/served_mounts.h"
#include "temp_tree.h"

struct fixture {
	struct temp_tree tree;
	struct file_servers *servers;
	struct log log;
	char told[512];
	int told_count;
};

static void note_text(void *context, enum log_level level, const char *text)
{
	struct fixture *fixture = context;

	fixture->told_count++;
	strncpy(fixture->told, text, sizeof(fixture->told) - 1);
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	temp_tree_init(&fixture->tree);
	temp_tree_file(&fixture->tree, "proc/self/mountinfo",
		       "21 1 0:7 / /mnt rw - fuse.bindfs x rw\n");
	fixture->servers = file_servers_new(fixture->tree.root);
	fixture->log =
		(struct log){.max_level = LOG_WARNING, .write = note_text, .context = fixture};
	file_servers_set_log(fixture->servers, &fixture->log);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	file_servers_free(fixture->servers);
	temp_tree_done(&fixture->tree);
	free(fixture);
	return 0;
}

static int open_path(void *context, void *result)
{
	int fd = open(context, O_RDONLY | O_CLOEXEC);

	*(int *)result = 42;
	return fd < 0 ? -errno : fd;
}

static int open_never(void *context, void *result)
{
	while (pause() < 0)
		;
	return 0;
}

static int ask(struct fixture *fixture, uint32_t device_minor,
	       int (*function)(void *context, void *result), const char *path, int *ret_result)
{
	struct served_file file = {
		.device = served_mounts_device(0, device_minor),
		.open = function,
		.context = (void *)(uintptr_t)path,
		.result = ret_result,
		.result_size = sizeof(*ret_result),
	};

	return file_servers_open(fixture->servers, &file);
}

static void what_is_served_is_copied_with_its_time(void **state)
{
	const struct timespec written[2] = {{.tv_sec = 1000}, {.tv_sec = 2000, .tv_nsec = 3}};
	struct fixture *fixture = *state;
	const char *path;
	struct stat status;
	char text[16] = "";
	int result = 0, fd;

	temp_tree_file(&fixture->tree, "file", "contents");
	path = temp_tree_path(&fixture->tree, "file");
	assert_int_equal(utimensat(AT_FDCWD, path, written, 0), 0);
	fd = ask(fixture, 7, open_path, path, &result);
	assert_true(fd >= 0);
	assert_int_equal(result, 42);
	/* Whatever becomes of the file. */
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(pread(fd, text, sizeof(text) - 1, 0), 8);
	assert_string_equal(text, "contents");
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_true(fcntl(fd, F_GET_SEALS) & F_SEAL_WRITE);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_mtim.tv_sec, 2000);
	assert_int_equal(status.st_mtim.tv_nsec, 3);
	close(fd);
	assert_int_equal(
		ask(fixture, 7, open_path, temp_tree_path(&fixture->tree, "none"), &result),
		-ENOENT);
	assert_int_equal(fixture->told_count, 0);
}

static void what_is_too_large_for_a_copy_is_opened_itself(void **state)
{
	struct fixture *fixture = *state;
	const char *path;
	struct stat status, opened;
	int result, fd;

	temp_tree_file(&fixture->tree, "file", "contents");
	path = temp_tree_path(&fixture->tree, "file");
	assert_int_equal(truncate(path, (off_t)FILE_SERVERS_MAX_COPY_BYTES + 1), 0);
	fd = ask(fixture, 7, open_path, path, &result);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &opened), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(opened.st_ino, status.st_ino);
	close(fd);
}

static void a_silent_server_costs_one_wait_and_no_other_server_a_file(void **state)
{
	struct fixture *fixture = *state;
	uint64_t begin_ns = clock_now_ns(), first_ns, rest_ns;
	int result, fd;

	assert_int_equal(ask(fixture, 7, open_never, NULL, &result), -ETIMEDOUT);
	first_ns = clock_now_ns() - begin_ns;
	assert_int_equal(fixture->told_count, 1);
	assert_non_null(strstr(fixture->told, "/mnt (fuse.bindfs) does not respond"));
	begin_ns = clock_now_ns();
	for (int i = 0; i < 1000; i++)
		assert_int_equal(ask(fixture, 7, open_never, NULL, &result), -ETIMEDOUT);
	rest_ns = clock_now_ns() - begin_ns;
	assert_true(rest_ns < first_ns || rest_ns < NS_PER_SECOND);
	assert_int_equal(fixture->told_count, 1);
	temp_tree_file(&fixture->tree, "file", "contents");
	fd = ask(fixture, 8, open_path, temp_tree_path(&fixture->tree, "file"), &result);
	assert_true(fd >= 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_served_is_copied_with_its_time, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_too_large_for_a_copy_is_opened_itself,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_silent_server_costs_one_wait_and_no_other_server_a_file, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
