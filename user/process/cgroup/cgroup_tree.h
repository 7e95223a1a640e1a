/* SPDX-License-Identifier: BSD-2-Clause */
/* Visits all directories of a cgroup hierarchy, parents before children. */
#ifndef PKBPF_PROCESS_CGROUP_CGROUP_TREE_H
#define PKBPF_PROCESS_CGROUP_CGROUP_TREE_H

#include <stdint.h>

/* Maximum number of directories visited: about 10 MB of memory. */
#define CGROUP_WALK_MAX 100000

/* path: below root, starting with '/'; the root itself is "". id: the inode in the parent
 * directory's entry. A value other than 0 ends the search. */
typedef int (*cgroup_visit_fn)(void *context, const char *path, uint64_t id);

/* Returns the value that ended the search; 0: none did; -ENOMEM, -EMFILE, -ENFILE: some could
 * not be read; -E2BIG: more directories than the maximum. Removed and unreadable directories have
 * no children. */
int cgroup_tree_walk(const char *root, cgroup_visit_fn visit, void *context);
/* The same of the directory `below` the root, which is visited first. */
int cgroup_tree_walk_below(const char *root, const char *below, cgroup_visit_fn visit,
			   void *context);

#endif
