// SPDX-License-Identifier: BSD-2-Clause
#include "process/file/path_in_root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

/* As the kernel. */
#define MAX_LINKS 40
#define MAX_DEPTH 256

struct walk {
	int folders[MAX_DEPTH]; /* from the root down, which is borrowed */
	size_t depth;
	char rest[PATH_MAX]; /* not walked yet */
	unsigned int links;
	bool follow;
	bool only_open_to_all;
};

static void leave(struct walk *walk)
{
	if (walk->depth > 1)
		close(walk->folders[--walk->depth]);
}

/* The link's text comes before the rest of the path. */
static int take_link(struct walk *walk, int fd, const char *rest)
{
	char text[PATH_MAX], joined[PATH_MAX];
	ssize_t length = readlinkat(fd, "", text, sizeof(text) - 1);

	if (length <= 0)
		return length ? -errno : -ENOENT;
	if (++walk->links > MAX_LINKS)
		return -ELOOP;
	text[length] = '\0';
	if ((size_t)snprintf(joined, sizeof(joined), "%s/%s", text, rest) >= sizeof(joined))
		return -ENAMETOOLONG;
	if (text[0] == '/')
		while (walk->depth > 1)
			leave(walk);
	strcpy(walk->rest, joined);
	return 0;
}

/* Puts the first name of the rest, cut off, into name; "": the path ends. */
static int take_name(struct walk *walk, char name[NAME_MAX + 1])
{
	const char *start = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(start, "/");

	if (length > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, start, length);
	name[length] = '\0';
	start += length;
	memmove(walk->rest, start, strlen(start) + 1);
	return 0;
}

static int enter(struct walk *walk, const char *name)
{
	_cleanup_close_ int fd =
		openat(walk->folders[walk->depth - 1], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (S_ISLNK(status.st_mode)) {
		if (!walk->rest[strspn(walk->rest, "/")] && !walk->follow)
			return -ELOOP;
		return take_link(walk, fd, walk->rest);
	}
	if (walk->only_open_to_all &&
	    !(status.st_mode & (S_ISDIR(status.st_mode) ? S_IXOTH : S_IROTH)))
		return -EACCES;
	if (walk->depth == ARRAY_SIZE(walk->folders))
		return -ENAMETOOLONG;
	walk->folders[walk->depth++] = take_fd(fd);
	return 0;
}

static int step(struct walk *walk, const char *name)
{
	if (!strcmp(name, "."))
		return 0;
	if (strcmp(name, "..") != 0)
		return enter(walk, name);
	leave(walk);
	return 0;
}

static int walk_path(int root_fd, const char *path, bool follow, bool only_open_to_all)
{
	struct walk walk = {
		.folders = {root_fd},
		.depth = 1,
		.follow = follow,
		.only_open_to_all = only_open_to_all,
	};
	char name[NAME_MAX + 1];
	int ret;

	if ((size_t)snprintf(walk.rest, sizeof(walk.rest), "%s", path) >= sizeof(walk.rest))
		return -ENAMETOOLONG;
	do {
		ret = take_name(&walk, name);
		if (!ret && name[0])
			ret = step(&walk, name);
	} while (!ret && name[0]);
	if (!ret) {
		ret = fcntl(walk.folders[walk.depth - 1], F_DUPFD_CLOEXEC, 0);
		ret = ret < 0 ? -errno : ret;
	}
	while (walk.depth > 1)
		leave(&walk);
	return ret;
}

int path_in_root_walk(int root_fd, const char *path, bool follow)
{
	return walk_path(root_fd, path, follow, false);
}

int path_in_root_open_to_all(int root_fd, const char *path, bool follow)
{
	return walk_path(root_fd, path, follow, true);
}

int path_in_root_open(int root_fd, const char *path, bool follow)
{
	struct open_how how = {
		.flags = (uint64_t)(O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW)),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	struct stat status;
	int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	if (fd < 0)
		return errno == ENOSYS || errno == EPERM ? path_in_root_walk(root_fd, path, follow)
							 : -errno;
	if (!follow && fstat(fd, &status) == 0 && S_ISLNK(status.st_mode)) {
		close(fd);
		return -ELOOP;
	}
	return fd;
}
