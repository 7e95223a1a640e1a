/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the path of a cgroup whose number (inode of its folder in the v2 hierarchy) the kernel side
 * has noted. */
#ifndef PKBPF_PROCESS_CGROUP_CGROUP_H
#define PKBPF_PROCESS_CGROUP_CGROUP_H

#include <stddef.h>
#include <stdint.h>

struct cgroup_root; /* a mounted hierarchy */

/* The v2 hierarchy, by /proc/mounts and the usual places; NULL with errno: there is none, or out of
 * memory. */
struct cgroup_root *cgroup_root_open(void);
/* A given folder as root, for tests. */
struct cgroup_root *cgroup_root_open_at(const char *path);
void cgroup_root_close(struct cgroup_root *root);
/* Its own number; 0: unknown. */
uint64_t cgroup_root_id(const struct cgroup_root *root);
/* The path below the root, beginning with '/'. 0; -ENOENT: gone, or not below this root; other
 * errors as they come. */
int cgroup_root_path(struct cgroup_root *root, uint64_t id, char *ret_path, size_t size);

#endif
