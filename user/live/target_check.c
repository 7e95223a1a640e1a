// SPDX-License-Identifier: BSD-2-Clause
/* Checks processes, threads and cgroups named on the command line. */
#include "live/target_check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "process/procfs_status.h"

int target_check_process(uint32_t pid, int *ret_pidfd, struct error *error)
{
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	uint32_t process;

	if (fd >= 0) {
		struct pollfd end = {.fd = fd, .events = POLLIN};

		/* There until its parent asks how it ended. */
		if (poll(&end, 1, 0) > 0) {
			close(fd);
			return error_set(error, ESRCH,
					 "cannot profile pid %" PRIu32 ": already exited", pid);
		}
		*ret_pidfd = fd;
		return 0;
	}
	if (errno == ESRCH)
		return error_set(error, ESRCH, "cannot profile pid %" PRIu32 ": no such process",
				 pid);
	/* Kernels answer EINVAL, later ones ENOENT, for a thread that does not lead its process. */
	if (errno == EINVAL || errno == ENOENT) {
		process = procfs_process_of_thread(pid);
		if (process && process != pid)
			return error_set(error, EINVAL,
					 "cannot profile pid %" PRIu32
					 ": a thread of process %" PRIu32 "; use --tid %" PRIu32
					 " or --pid %" PRIu32,
					 pid, process, pid, process);
		return error_set(error, ESRCH, "cannot profile pid %" PRIu32 ": no such process",
				 pid);
	}
	*ret_pidfd = -1;
	return 0;
}

int target_check_thread(uint32_t tid, struct error *error)
{
	/* EPERM says that it exists, too. */
	if (syscall(SYS_tkill, (pid_t)tid, 0) < 0 && errno == ESRCH)
		return error_set(error, ESRCH, "cannot profile tid %" PRIu32 ": no such thread",
				 tid);
	return 0;
}

/* 0: path is a folder of a cgroup2 file system. */
static int check_cgroup_folder(const char *path)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs filesystem;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &filesystem) < 0)
		return -errno;
	return filesystem.f_type == CGROUP2_SUPER_MAGIC ? 0 : -EMEDIUMTYPE;
}

int target_check_cgroup(const char *path, char **ret_path, struct error *error)
{
	/* Where cgroup2 is mounted: alone, or beside the old hierarchies. */
	static const char *const roots[] = {"", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/"};
	int err = -ENOENT;

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		_cleanup_free_ char *full = NULL;
		int result;

		if (asprintf(&full, "%s%s", roots[i], path) < 0) {
			full = NULL;
			return error_set(error, ENOMEM, "cannot profile cgroup %s: out of memory",
					 path);
		}
		result = check_cgroup_folder(full);
		if (result == 0) {
			*ret_path = take_pointer(full);
			return 0;
		}
		if (err == -ENOENT)
			err = result;
	}
	if (err == -EMEDIUMTYPE)
		return error_set(error, EINVAL,
				 "cannot profile cgroup %s: not a directory of a cgroup v2 file "
				 "system; use the path after 0:: in /proc/PID/cgroup",
				 path);
	return error_set(error, -err, "cannot profile cgroup %s: %s", path,
			 err == -ENOENT ? "no such directory, also not below /sys/fs/cgroup"
					: strerror(-err));
}
