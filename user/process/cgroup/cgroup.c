// SPDX-License-Identifier: BSD-2-Clause
/* Opens a cgroup by its id through an exported file handle; searches the tree where handles are
 * not permitted. */
#include "process/cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "process/cgroup/cgroup_tree.h"

/* FILEID_KERNFS of the kernel: the handle is only the 64-bit id, which on 64-bit machines has
 * generation and inode. */
#define HANDLE_TYPE_KERNFS 0xfe

struct cgroup_root {
	char path[PATH_MAX];
	int fd;
	bool no_handles; /* handles are not permitted here: search instead */
};

struct cgroup_root *cgroup_root_open_at(const char *path)
{
	struct cgroup_root *root = calloc(1, sizeof(*root));
	char real[PATH_MAX];

	if (!root)
		return NULL;
	root->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root->fd < 0 || !realpath(path, real)) {
		cgroup_root_close(root);
		return NULL;
	}
	strcpy(root->path, real);
	return root;
}

static bool is_v2(const char *path)
{
	char file[64];

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	if (access(file, F_OK))
		return false;
	/* A v1 hierarchy also has cgroup.procs, but not this file. */
	snprintf(file, sizeof(file), "%s/cgroup.controllers", path);
	return access(file, F_OK) == 0;
}

struct cgroup_root *cgroup_root_open(void)
{
	static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (is_v2(places[i]))
			return cgroup_root_open_at(places[i]);
	errno = ENOENT;
	return NULL;
}

void cgroup_root_close(struct cgroup_root *root)
{
	if (!root)
		return;
	if (root->fd >= 0)
		close(root->fd);
	free(root);
}

const char *cgroup_root_folder(const struct cgroup_root *root)
{
	return root->path;
}

uint64_t cgroup_root_id(const struct cgroup_root *root)
{
	struct stat status;

	return fstat(root->fd, &status) ? 0 : status.st_ino;
}

/* Makes an absolute path relative to the root of the hierarchy. */
static int below_root(const struct cgroup_root *root, const char *path, char *ret_path, size_t size)
{
	size_t length = strlen(root->path);

	if (strncmp(path, root->path, length) != 0 || (path[length] && path[length] != '/'))
		return -ENOENT;
	path += length;
	if (snprintf(ret_path, size, "%s", *path ? path : "/") >= (int)size)
		return -ENAMETOOLONG;
	return 0;
}

static int path_by_handle(const struct cgroup_root *root, uint64_t id, char *ret_path, size_t size)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + sizeof(uint64_t)];
	} handle = {
		.handle = {.handle_bytes = sizeof(uint64_t), .handle_type = HANDLE_TYPE_KERNFS}};
	_cleanup_close_ int fd = -1;
	char link[64], path[PATH_MAX];
	ssize_t length;

	memcpy(handle.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(root->fd, &handle.handle, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return -errno;
	path[length] = '\0';
	return below_root(root, path, ret_path, size);
}

/* ---- where handles are not permitted ---- */

struct search {
	uint64_t id;
	char *ret_path;
	size_t size;
};

enum { FOUND = 1 };

static int compare(void *context, const char *path, uint64_t id)
{
	struct search *search = context;

	if (id != search->id)
		return 0;
	if (snprintf(search->ret_path, search->size, "%s", *path ? path : "/") >= (int)search->size)
		return -ENAMETOOLONG;
	return FOUND;
}

static int path_by_search(const struct cgroup_root *root, uint64_t id, char *ret_path, size_t size)
{
	struct search search = {id, ret_path, size};
	int ret = cgroup_tree_walk(root->path, compare, &search);

	return ret == FOUND ? 0 : ret ? ret : -ENOENT;
}

int cgroup_root_path(struct cgroup_root *root, uint64_t id, char *ret_path, size_t size)
{
	if (!root->no_handles) {
		int err = path_by_handle(root, id, ret_path, size);

		if (err == 0 || err == -ENAMETOOLONG)
			return err;
		if (err == -ESTALE || err == -ENOENT)
			return -ENOENT;
		/* These pass. */
		if (err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -EINTR)
			return err;
		/* No CAP_DAC_READ_SEARCH, a system call filter, or another kind of file system. */
		root->no_handles = true;
	}
	return path_by_search(root, id, ret_path, size);
}
