/* SPDX-License-Identifier: BSD-2-Clause */
/* Cgroups whose CPU time (cpu.max, or cpu.cfs_quota_us of cgroup v1) or memory (memory.max and
 * memory.high, or memory.limit_in_bytes) is limited, how they came to their limits, and those that
 * are frozen. A cgroup is found once and read on demand, also after the processes that led to it
 * have exited. One owner thread. */
#ifndef PKBPF_PROCESS_CGROUP_CGROUP_LIMITS_H
#define PKBPF_PROCESS_CGROUP_CGROUP_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/resource.h>

enum cgroup_controller { CGROUP_CPU, CGROUP_MEMORY, CGROUP_FREEZER, CGROUP_CONTROLLERS };

struct cgroup_limit {
	const char *path;   /* below the root of the hierarchy, starting with '/' */
	uint64_t cgroup_id; /* inode of its directory */
	PKBPF_CGROUP_LIMIT_FIGURES(PKBPF_CGROUP_LIMIT_MEMBER, PKBPF_CGROUP_LIMIT_MEMBER)
};

struct cgroup_limits;

/* most: maximum number of cgroups with a limit. root: "" or a test directory with proc and sys.
 * NULL: out of memory, or no hierarchy has the controller. */
struct cgroup_limits *cgroup_limits_open(const char *root, enum cgroup_controller controller,
					 size_t most);
void cgroup_limits_close(struct cgroup_limits *limits);

/* Add all cgroups, or those above a process. -ENOMEM. Removed and unreadable cgroups have no
 * limit; those beyond the maximum are left out. */
int cgroup_limits_add_all(struct cgroup_limits *limits);
int cgroup_limits_add_of(struct cgroup_limits *limits, uint32_t pid);
/* Forgets those that were removed, so that others have room. Changes which ones come first. */
void cgroup_limits_forget_gone(struct cgroup_limits *limits);
size_t cgroup_limits_count(const struct cgroup_limits *limits);
/* Calls back for each existing cgroup, except the `first` ones added, with its current counters.
 * An error ends the iteration and is returned. */
int cgroup_limits_read(struct cgroup_limits *limits, size_t first,
		       int (*callback)(void *context, const struct cgroup_limit *limit),
		       void *context);
/* Number of cgroups left out, at least: those beyond CGROUP_WALK_MAX are not counted. */
uint64_t cgroup_limits_left_out(const struct cgroup_limits *limits);

#endif
