/* SPDX-License-Identifier: BSD-2-Clause */
/* All folders of a hierarchy of cgroups, those above before those below. */
#ifndef PKBPF_PROCESS_CGROUP_CGROUP_TREE_H
#define PKBPF_PROCESS_CGROUP_CGROUP_TREE_H

#include <stdint.h>

/* Folders visited by a walk at most: the memory of some 10 MB. */
#define CGROUP_WALK_MAX 100000

/* path: below root, beginning with '/'; the root itself is "". id: the inode as its parent's folder
 * shows it. A value other than 0 ends the search. */
typedef int (*cgroup_visit_fn)(void *context, const char *path, uint64_t id);

/* The value that ended the search; 0: none did; -ENOMEM; -E2BIG: there are more folders. Folders
 * that are gone or cannot be read have none below. */
int cgroup_tree_walk(const char *root, cgroup_visit_fn visit, void *context);

#endif
