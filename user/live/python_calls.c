// SPDX-License-Identifier: BSD-2-Clause
/* Does not trust what it finds there: the user may put anything into the folder. */
#include "live/python_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "profile/python_call_file.h"

#define FILES_MAX     16384
#define PATH_SIZE     64
#define FOLDER_PREFIX "pkbpf-calls-"
/* A younger folder may not be locked yet. */
#define LEAST_AGE_S 60
/* Processes that go on make files while their folder is emptied. */
#define REMOVE_TRIES 8
/* As profile_names_bytes() has it; a process makes up as many names as it likes. */
#define NAMES_MAX (32U << 20)

struct python_calls {
	char path[PATH_SIZE];
	int fd;
};

/* ---- the folder ---- */

/* In memory where possible: each count of a call writes to a page. */
static const char *const places[] = {"/dev/shm", "/tmp", "/var/tmp"};

/* NULL: it cannot be. */
static DIR *list_folder(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;

	if (!list && fd >= 0)
		close(fd);
	return list;
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

static void remove_files(int folder)
{
	DIR *list = list_folder(folder);
	const struct dirent *entry;

	if (!list)
		return;
	for (size_t i = 0; i < 4 * FILES_MAX && (entry = readdir(list)); i++)
		if (begins_with(entry->d_name, PKBPF_PYTHON_CALLS_PREFIX))
			unlinkat(folder, entry->d_name, 0);
	closedir(list);
}

static void remove_folder(int folder, const char *path)
{
	for (int i = 0; i < REMOVE_TRIES; i++) {
		remove_files(folder);
		if (!rmdir(path) || (errno != ENOTEMPTY && errno != EEXIST))
			return;
	}
}

/* The folder of a pkbpf that was killed: its lock is free. */
static void remove_left(const char *path, const struct invoking_user *user)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) || time(NULL) - status.st_mtime < LEAST_AGE_S ||
	    (status.st_uid != geteuid() && !(user->behind_sudo && status.st_uid == user->uid)))
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		remove_folder(fd, path);
}

static void remove_all_left(const struct invoking_user *user)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		DIR *list = opendir(places[i]);
		const struct dirent *entry;
		char path[PATH_SIZE];

		while (list && (entry = readdir(list))) {
			if (!begins_with(entry->d_name, FOLDER_PREFIX) ||
			    strlen(entry->d_name) > strlen(FOLDER_PREFIX "XXXXXX"))
				continue;
			snprintf(path, sizeof(path), "%s/%.40s", places[i], entry->d_name);
			remove_left(path, user);
		}
		if (list)
			closedir(list);
	}
}

static int make_folder(struct python_calls *calls, struct error *error)
{
	int err = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(calls->path, sizeof(calls->path), "%s/" FOLDER_PREFIX "XXXXXX", places[i]);
		if (mkdtemp(calls->path))
			return 0;
		err = -errno;
	}
	calls->path[0] = '\0';
	return error_set(error, -err,
			 "cannot make a folder for --python-calls in /dev/shm, /tmp or /var/tmp: "
			 "%s; make one of them writable",
			 strerror(-err));
}

static int open_folder(struct python_calls *calls, const struct invoking_user *user,
		       struct error *error)
{
	calls->fd = open(calls->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Where locks are not known, nothing is removed later. */
	if (calls->fd >= 0)
		flock(calls->fd, LOCK_EX | LOCK_NB);
	if (calls->fd >= 0 && (!user->behind_sudo || fchown(calls->fd, user->uid, user->gid) == 0))
		return 0;
	return error_set(error, errno, "cannot give %s to the user of the command: %s", calls->path,
			 strerror(errno));
}

int python_calls_new(const struct invoking_user *user, struct python_calls **ret_calls,
		     struct error *error)
{
	struct python_calls *calls = calloc(1, sizeof(*calls));
	int err;

	if (!calls)
		return error_set(error, ENOMEM, "cannot start the command: out of memory");
	calls->fd = -1;
	remove_all_left(user);
	err = make_folder(calls, error);
	err = err ? err : open_folder(calls, user, error);
	if (err)
		python_calls_free(calls);
	else
		*ret_calls = calls;
	return err;
}

const char *python_calls_path(const struct python_calls *calls)
{
	return calls->path;
}

void python_calls_free(struct python_calls *calls)
{
	if (!calls)
		return;
	if (calls->fd >= 0) {
		remove_folder(calls->fd, calls->path);
		close(calls->fd);
	} else if (calls->path[0]) {
		rmdir(calls->path);
	}
	free(calls);
}

/* ---- a file ---- */

/* Cuts *count to the rows that are there. NULL: out of memory. */
static void *read_rows(int fd, uint32_t at, size_t size, size_t *count)
{
	char *rows = malloc(*count * size + 1);
	size_t bytes = 0;

	while (rows && bytes < *count * size) {
		ssize_t got = pread(fd, rows + bytes, *count * size - bytes, at + (off_t)bytes);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		bytes += (size_t)got;
	}
	*count = bytes / size;
	return rows;
}

static int add_file(int fd, struct profile *profile, size_t names_most)
{
	struct python_call_parts parts = {.names_most = names_most};
	_cleanup_free_ void *functions = NULL, *edges = NULL, *lines = NULL, *strings = NULL;
	int err;

	if (pread(fd, &parts.head, sizeof(parts.head), 0) != sizeof(parts.head))
		return -EBADMSG;
	err = python_call_parts_begin(&parts);
	if (err)
		return err;
	functions = read_rows(fd, PKBPF_PYTHON_FUNCTIONS_AT, sizeof(*parts.functions),
			      &parts.function_count);
	edges = read_rows(fd, PKBPF_PYTHON_EDGES_AT, sizeof(*parts.edges), &parts.edge_count);
	lines = read_rows(fd, PKBPF_PYTHON_LINES_AT, sizeof(*parts.lines), &parts.line_count);
	strings = read_rows(fd, PKBPF_PYTHON_STRINGS_AT, 1, &parts.string_bytes);
	if (!functions || !edges || !lines || !strings)
		return -ENOMEM;
	parts.functions = functions;
	parts.edges = edges;
	parts.lines = lines;
	parts.strings = strings;
	return python_call_parts_add(&parts, profile);
}

static int add_named(struct python_calls *calls, const char *name, struct profile *profile,
		     size_t names_most)
{
	_cleanup_close_ int fd =
		openat(calls->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	int err = -EBADMSG;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		err = add_file(fd, profile, names_most);
	unlinkat(calls->fd, name, 0);
	return err == -EBADMSG ? python_call_note(profile, PYTHON_CALL_UNREADABLE, 1) : err;
}

int python_calls_collect(struct python_calls *calls, struct profile *profile)
{
	DIR *folder = list_folder(calls->fd);
	const struct dirent *entry;
	size_t files = 0, names_most = profile_names_bytes(profile) + NAMES_MAX;
	int err = 0;

	if (!folder)
		return -ENOMEM;
	while (!err && (entry = readdir(folder))) {
		if (!begins_with(entry->d_name, PKBPF_PYTHON_CALLS_PREFIX))
			continue;
		if (files++ < FILES_MAX) {
			err = add_named(calls, entry->d_name, profile, names_most);
		} else {
			unlinkat(calls->fd, entry->d_name, 0);
			err = python_call_note(profile, PYTHON_CALL_UNREADABLE, 1);
		}
	}
	closedir(folder);
	return err;
}
