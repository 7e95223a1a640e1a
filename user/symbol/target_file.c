// SPDX-License-Identifier: BSD-2-Clause
/* Opens regular files inside another process's root folder. */
#include "symbol/target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "process/file/file_servers.h"
#include "process/file/served_mounts.h"

/* O_PATH: nothing happens to the file itself, be it a FIFO nobody writes to or a device that acts
 * on open. */
static int open_path(int root_fd, const char *path, bool follow)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	/* A sandbox that does not know openat2 (Linux 5.6): without links in between nothing can
	 * lead outside. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
		while (*path == '/')
			path++;
		fd = openat(root_fd, path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	}
	return fd < 0 ? -errno : fd;
}

static int open_in(const char *root, uint32_t pid, const char *path, bool follow,
		   struct stat *ret_stat)
{
	_cleanup_close_ int root_fd = -1;
	_cleanup_close_ int path_fd = -1;
	char name[PATH_MAX];
	struct stat st;
	int fd;

	if (pid)
		snprintf(name, sizeof(name), "%s/proc/%u/root", root, pid);
	else
		snprintf(name, sizeof(name), "%s/", root);
	root_fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return -errno;
	path_fd = open_path(root_fd, path, follow);
	if (path_fd < 0)
		return path_fd;
	if (fstat(path_fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	*ret_stat = st;
	return fd;
}

struct opening {
	const char *root, *path;
	uint32_t pid;
	bool follow;
};

static int open_and_tell(void *context, void *result)
{
	const struct opening *opening = context;

	return open_in(opening->root, opening->pid, opening->path, opening->follow, result);
}

int target_file_open(struct file_servers *servers, const char *root, uint32_t pid, const char *path,
		     bool follow, struct stat *ret_stat)
{
	struct opening opening = {root, path, pid, follow};
	struct served_file served = {
		.pid = pid,
		.open = open_and_tell,
		.context = &opening,
		.result = ret_stat,
		.result_size = sizeof(*ret_stat),
	};

	if (!servers ||
	    !served_mounts_on_path(file_servers_mounts(servers), pid, path, &served.device))
		return open_in(root, pid, path, follow, ret_stat);
	return file_servers_open(servers, &served);
}
