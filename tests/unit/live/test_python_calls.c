// SPDX-License-Identifier: BSD-2-Clause
/* Tests for live/python_calls: what processes have left is read once, whatever it is, and the
 * folder is gone at the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pkbpf/python_calls.h>

#include "live/python_calls.h"
#include "profile/slice/slice.h"

static void write_at(int fd, const void *bytes, size_t size, off_t at)
{
	assert_int_equal(pwrite(fd, bytes, size, at), (ssize_t)size);
}

/* A function that was called `calls` times. */
static void leave_counts(const char *folder, const char *name, uint64_t calls)
{
	const struct pkbpf_python_head head = {.magic = PKBPF_PYTHON_CALLS_MAGIC,
					       .state = PKBPF_PYTHON_COUNTS,
					       .functions = 2,
					       .edges = 2,
					       .lines = 1,
					       .strings = 5};
	const struct pkbpf_python_function functions[2] = {{0}, {.name = 1, .first_line = 4}};
	const struct pkbpf_python_edge edges[2] = {{0}, {.callee = 1, .calls = calls}};
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	write_at(fd, &head, sizeof(head), 0);
	write_at(fd, functions, sizeof(functions), PKBPF_PYTHON_FUNCTIONS_AT);
	write_at(fd, edges, sizeof(edges), PKBPF_PYTHON_EDGES_AT);
	write_at(fd, "\0fib", 5, PKBPF_PYTHON_STRINGS_AT);
	close(fd);
}

static void counts_of_all_processes_add_up_once(void **state)
{
	static const struct invoking_user nobody;
	struct profile *profile = slice_new();
	const struct python_call_list *list = profile_python_calls(profile);
	struct python_calls *calls;
	struct error error;
	char folder[128];

	assert_int_equal(python_calls_new(&nobody, &calls, &error), 0);
	snprintf(folder, sizeof(folder), "%s", python_calls_path(calls));
	leave_counts(folder, "calls-1-0", 5);
	leave_counts(folder, "calls-1-1", 70);
	assert_int_equal(python_calls_collect(calls, profile), 0);
	assert_int_equal(python_calls_collect(calls, profile), 0);
	assert_int_equal(python_call_list_sum(list, PYTHON_CALL_EDGE), 75);
	assert_int_equal(python_call_list_sum(list, PYTHON_CALL_PROCESSES), 2);
	assert_string_equal(profile_string(profile, list->items.items[1].name), "fib");
	python_calls_free(calls);
	assert_int_not_equal(access(folder, F_OK), 0);
	profile_free(profile);
	(void)state;
}

static void what_is_no_file_of_counts_is_counted_and_removed(void **state)
{
	static const struct invoking_user nobody;
	struct profile *profile = slice_new();
	struct python_calls *calls;
	struct error error;
	char folder[128], path[256];

	assert_int_equal(python_calls_new(&nobody, &calls, &error), 0);
	snprintf(folder, sizeof(folder), "%s", python_calls_path(calls));
	snprintf(path, sizeof(path), "%s/calls-2-0", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/calls-3-0", folder);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	snprintf(path, sizeof(path), "%s/calls-4-0", folder);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(python_calls_collect(calls, profile), 0);
	assert_int_equal(
		python_call_list_sum(profile_python_calls(profile), PYTHON_CALL_UNREADABLE), 3);
	python_calls_free(calls);
	assert_int_not_equal(access(folder, F_OK), 0);
	profile_free(profile);
	(void)state;
}

static void files_that_come_after_the_counts_are_removed(void **state)
{
	static const struct invoking_user nobody;
	struct profile *profile = slice_new();
	struct python_calls *calls;
	struct error error;
	char folder[128];

	assert_int_equal(python_calls_new(&nobody, &calls, &error), 0);
	snprintf(folder, sizeof(folder), "%s", python_calls_path(calls));
	assert_int_equal(python_calls_collect(calls, profile), 0);
	leave_counts(folder, "calls-1-0", 5);
	python_calls_free(calls);
	assert_int_not_equal(access(folder, F_OK), 0);
	profile_free(profile);
	(void)state;
}

/* A folder of an hour ago, with counts. */
static void leave_folder(char folder[32])
{
	struct timespec times[2] = {{0}, {0}};

	snprintf(folder, 32, "/tmp/pkbpf-calls-XXXXXX");
	assert_non_null(mkdtemp(folder));
	leave_counts(folder, "calls-1-0", 5);
	times[0].tv_sec = times[1].tv_sec = time(NULL) - 3600;
	assert_int_equal(utimensat(AT_FDCWD, folder, times, 0), 0);
}

static void what_a_killed_one_has_left_is_removed_by_the_next(void **state)
{
	static const struct invoking_user nobody;
	struct python_calls *calls;
	struct error error;
	char left[32], used[32], path[64];
	int lock;

	leave_folder(left);
	leave_folder(used);
	lock = open(used, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	assert_int_equal(python_calls_new(&nobody, &calls, &error), 0);
	assert_int_not_equal(access(left, F_OK), 0);
	snprintf(path, sizeof(path), "%s/calls-1-0", used);
	assert_int_equal(access(path, F_OK), 0);
	python_calls_free(calls);
	close(lock);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(used), 0);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_of_all_processes_add_up_once),
		cmocka_unit_test(what_is_no_file_of_counts_is_counted_and_removed),
		cmocka_unit_test(files_that_come_after_the_counts_are_removed),
		cmocka_unit_test(what_a_killed_one_has_left_is_removed_by_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
