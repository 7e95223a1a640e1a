/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU limits of cgroups (cpu.max, or cpu.cfs_quota_us of cgroup v1) and how often they were
 * throttled. A cgroup is found once and read on demand, also after the processes that led to it
 * have exited. One owner thread. */
#ifndef PKBPF_PROCESS_CGROUP_CPU_LIMITS_H
#define PKBPF_PROCESS_CGROUP_CPU_LIMITS_H

#include <stddef.h>
#include <stdint.h>

struct cpu_limit {
	const char *path;   /* below the root of the hierarchy, starting with '/' */
	uint64_t cgroup_id; /* inode of its directory */
	uint64_t quota_ns, period_ns;
	uint64_t periods, throttled_periods,
		throttled_ns; /* running totals, as in pkbpf_event_cpu_limit */
};

struct cpu_limits;

/* most: maximum number of cgroups with a limit. root: "" or a test directory with proc and sys.
 * NULL: out of memory, or no hierarchy has the cpu controller. */
struct cpu_limits *cpu_limits_open(const char *root, size_t most);
void cpu_limits_close(struct cpu_limits *limits);

/* Add all cgroups, or those above a process. -ENOMEM. Removed and unreadable cgroups have no
 * limit; those beyond the maximum are left out. */
int cpu_limits_add_all(struct cpu_limits *limits);
int cpu_limits_add_of(struct cpu_limits *limits, uint32_t pid);
size_t cpu_limits_count(const struct cpu_limits *limits);
/* Calls back for each existing cgroup, except the `first` ones added, with its current counters.
 * An error ends the iteration and is returned. */
int cpu_limits_read(struct cpu_limits *limits, size_t first,
		    int (*callback)(void *context, const struct cpu_limit *limit), void *context);
/* Number of cgroups left out, at least: those beyond CGROUP_WALK_MAX are not counted. */
uint64_t cpu_limits_left_out(const struct cpu_limits *limits);

#endif
