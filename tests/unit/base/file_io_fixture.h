/* SPDX-License-Identifier: BSD-2-Clause */
/* An empty directory around each test of base/file_io, with looks into it. */
#ifndef PKBPF_TEST_FILE_IO_FIXTURE_H
#define PKBPF_TEST_FILE_IO_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file_io.h"

#define KEEP_OWNER ((uid_t)-1)
#define KEEP_GROUP ((gid_t)-1)
#define STRANGER   12345

/* Each test runs in an empty directory of its own, which is also the working directory. */
static inline int directory_setup(void **state)
{
	char *directory = strdup("/tmp/pkbpf-test-XXXXXX");

	if (!directory || !mkdtemp(directory) || chdir(directory) < 0)
		return -1;
	*state = directory;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	umask(022);
	return 0;
}

static inline int directory_teardown(void **state)
{
	char command[128];
	int status;

	snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
	status = chdir("/") == 0 ? system(command) : -1;
	free(*state);
	return status;
}

static inline void put_file(const char *path, const char *text)
{
	_cleanup_fclose_ FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
}

static inline void assert_file_holds(const char *path, const char *text)
{
	_cleanup_free_ char *data = NULL;
	size_t size;

	assert_int_equal(file_read_all(AT_FDCWD, path, 1 << 20, &data, &size), 0);
	assert_string_equal(data, text);
}

static inline size_t count_entries(const char *path, const char *prefix)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	size_t count = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory)))
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
			 strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	closedir(directory);
	return count;
}

static inline mode_t mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(lstat(path, &status), 0);
	return status.st_mode;
}

static inline int write_text(const char *path, const char *text, struct error *error)
{
	struct output_file *output = output_file_open(path, error);
	int err;

	if (!output)
		return -errno;
	fputs(text, output_file_stream(output));
	err = output_file_commit(output, KEEP_OWNER, KEEP_GROUP, error);
	output_file_free(output);
	return err;
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, directory_setup, directory_teardown)

#endif
