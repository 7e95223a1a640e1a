/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the path of a cgroup by the id from the kernel side (inode of its directory in the v2
 * hierarchy). */
#ifndef PKBPF_PROCESS_CGROUP_CGROUP_H
#define PKBPF_PROCESS_CGROUP_CGROUP_H

#include <stddef.h>
#include <stdint.h>

/* Directories of cgroups, with the mount point: ARRAY_OF(char *) */
struct cgroup_paths {
	char **items;
	size_t count, capacity;
};

struct cgroup_root; /* a mounted hierarchy */

/* Opens the v2 hierarchy found in /proc/mounts or the usual places. NULL with errno: none, or
 * out of memory. */
struct cgroup_root *cgroup_root_open(void);
/* Opens a given directory as root, for tests. */
struct cgroup_root *cgroup_root_open_at(const char *path);
void cgroup_root_close(struct cgroup_root *root);
/* Where it is mounted; borrowed. */
const char *cgroup_root_folder(const struct cgroup_root *root);
/* Id of the root; 0: unknown. */
uint64_t cgroup_root_id(const struct cgroup_root *root);
/* The path below the root, starting with '/'. Returns 0; -ENOENT: removed, or not below this
 * root; other errors as they come. */
int cgroup_root_path(struct cgroup_root *root, uint64_t id, char *ret_path, size_t size);

#endif
