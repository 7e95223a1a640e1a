// SPDX-License-Identifier: BSD-2-Clause
#include "process/process_home.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "process/file/file_rights.h"

static bool is_same(const char *root, int process_fd, const char *name, const char *own)
{
	struct stat theirs, ours;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", root, own);
	return fstatat(process_fd, name, &theirs, 0) == 0 && stat(path, &ours) == 0 &&
	       theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

void process_home_read(const char *root, uint32_t pid, struct process_home *ret_home)
{
	_cleanup_close_ int process_fd = -1;
	struct file_rights rights;
	char path[PATH_MAX];

	*ret_home = (struct process_home){0};
	snprintf(path, sizeof(path), "%s/proc/%u", root, pid);
	process_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process_fd < 0 || file_rights_read(process_fd, &rights))
		return;
	*ret_home = (struct process_home){
		.is_known = true,
		.is_ours = is_same(root, process_fd, "ns/mnt", "/proc/self/ns/mnt") &&
			   is_same(root, process_fd, "root", "/"),
		.uid = rights.uid,
		.gid = rights.gid,
	};
}
