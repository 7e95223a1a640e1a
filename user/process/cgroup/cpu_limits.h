/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which cgroups may use only so much of the CPUs (cpu.max, or cpu.cfs_quota_us of the first
 * version), and how often they were throttled. A cgroup is looked for once and read as often as is
 * asked for, also when the processes that led to it are gone. One owner thread.
 */
#ifndef PKBPF_PROCESS_CGROUP_CPU_LIMITS_H
#define PKBPF_PROCESS_CGROUP_CPU_LIMITS_H

#include <stddef.h>
#include <stdint.h>

struct cpu_limit {
	const char *path;   /* below the root of the hierarchy, beginning with '/' */
	uint64_t cgroup_id; /* of its folder */
	uint64_t quota_ns, period_ns;
	uint64_t periods, throttled_periods,
		throttled_ns; /* running totals, as in pkbpf_event_cpu_limit */
};

struct cpu_limits;

/* Of at most so many cgroups with a limit. root: "" or a test folder that has proc and sys. NULL:
 * out of memory, or there is no hierarchy with the cpu controller. */
struct cpu_limits *cpu_limits_open(const char *root, size_t most);
void cpu_limits_close(struct cpu_limits *limits);

/* From now on all that there are, or those above a process. -ENOMEM; what is gone, or not to be
 * read, is none; what is too many is left out. */
int cpu_limits_add_all(struct cpu_limits *limits);
int cpu_limits_add_of(struct cpu_limits *limits, uint32_t pid);
size_t cpu_limits_count(const struct cpu_limits *limits);
/* Calls back for each that is still there, but the `first` that were added, with what it has
 * counted by now; an error ends it and is returned. */
int cpu_limits_read(struct cpu_limits *limits, size_t first,
		    int (*callback)(void *context, const struct cpu_limit *limit), void *context);
/* How many were, at least: beyond CGROUP_WALK_MAX nobody counts. */
uint64_t cpu_limits_left_out(const struct cpu_limits *limits);

#endif
