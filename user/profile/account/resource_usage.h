/* SPDX-License-Identifier: BSD-2-Clause */
/* Resource usage of processes and threads in the interval, from the running totals the kernel
 * keeps for each thread: last values minus those at the start, or minus zero for threads started
 * within the interval. A process is a pid and its start time; exec does not change it. One owner
 * thread.
 *
 * Bounds: RESOURCE_PROCESSES_MAX processes and RESOURCE_THREADS_MAX threads have rows of their
 * own. Further processes are added up in one row (pid 0, comm "[others]"); further threads count
 * only in their process. Before that, exited processes can be merged into groups (pid 0) of one
 * name and cgroup, at most RESOURCE_GROUPS_MAX. */
#ifndef PKBPF_PROFILE_ACCOUNT_RESOURCE_USAGE_H
#define PKBPF_PROFILE_ACCOUNT_RESOURCE_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/resource_event.h"

#define RESOURCE_PROCESSES_MAX	   (1U << 18)
#define RESOURCE_THREADS_MAX	   (1U << 18)
#define RESOURCE_GROUPS_MAX	   (1U << 12)
#define RESOURCE_CGROUP_LIMITS_MAX (1U << 12) /* further ones are left out */
#define RESOURCE_OTHERS_COMM	   "[others]"

struct resource_thread {
	uint32_t pid, tid;	   /* tid 0: several exited threads */
	uint32_t process;	   /* index */
	uint64_t start_ns, end_ns; /* end 0: still running */
	bool started_inside;
	char comm[PKBPF_COMM_SIZE + 1];
	uint32_t threads;	       /* in this row: 1, more for tid 0 */
	struct resource_counters used; /* in the interval, user + system = run */
};

struct resource_process {
	uint32_t pid, parent_pid;
	uint64_t start_ns; /* CLOCK_MONOTONIC, may be long before the interval */
	uint64_t end_ns;   /* 0: still running */
	bool started_inside;
	char comm[PKBPF_COMM_SIZE + 1];
	bool comm_is_known; /* comm of the leader; else of any thread */
	uint64_t cgroup_id; /* 0: unknown */
	uint32_t threads;   /* alive at the end */
	/* alive at any time in the interval; 0: not known to be a target */
	uint32_t threads_seen;
	uint32_t threads_counted; /* of those, with known last values */
	uint32_t processes;	  /* in this row: 1, more for groups and "[others]" (pid 0) */
	uint32_t oom_killed;	  /* of those, killed by the OOM killer */
	struct resource_counters used;
	bool rss_known;	   /* at the end */
	bool growth_known; /* alive at both ends, or started within the interval */
	uint64_t rss_bytes, start_rss_bytes, peak_rss_bytes; /* peak: since the start of the
							      * process */
	uint64_t anonymous_rss_bytes,
		start_anonymous_rss_bytes; /* a kernel may report 0 for some 100 KiB */
};

struct resource_machine {
	bool known;
	uint64_t elapsed_ns; /* between the two readings */
	uint64_t cpu_ns;     /* that, for each CPU that was online; 0: unknown */
	uint64_t busy_ns, idle_ns, iowait_ns, steal_ns,
		irq_ns;	     /* in the interval, all CPUs together */
	uint64_t threads_ns; /* in the interval, all CPUs together: time running any thread; 0:
			      * unknown */
	uint64_t memory_bytes, memory_available_bytes; /* at the end */
};

/* A cgroup whose CPU time or memory is limited: its state at the end, and how often and how long it
 * was held back in the interval. */
struct resource_cgroup_limit {
	uint64_t cgroup_id; /* in the hierarchy of the controller */
	const char *path;
	PKBPF_CGROUP_LIMIT_FIGURES(PKBPF_CGROUP_LIMIT_MEMBER, PKBPF_CGROUP_LIMIT_MEMBER)
};

struct resource_usage;

struct resource_usage *resource_usage_new(void);
void resource_usage_free(struct resource_usage *usage);
/* Takes a record if it belongs to resource accounting; in time order. -ENOMEM; -EBADMSG:
 * malformed. */
int resource_usage_feed(struct resource_usage *usage, const struct pkbpf_event_header *record);

/* Accounts of consecutive slices, while records of the first may still arrive. */
struct resource_slices {
	struct resource_usage *closing; /* NULL: none */
	struct resource_usage *running;
	uint64_t cut_ns; /* end of the first slice and start of the second */
};

/* Prepares the account that follows another, with the names that are reported only once.
 * -ENOMEM. */
int resource_usage_follow(struct resource_usage *next, const struct resource_usage *before);
/* As resource_usage_feed(), into the account that the record belongs to. */
int resource_usage_feed_slices(const struct resource_slices *slices,
			       const struct pkbpf_event_header *record);
/* Closes the first account: threads without last values, and readings without an end, continue
 * in the next account. -ENOMEM: some of them are missing. */
int resource_usage_close(const struct resource_slices *slices);

/* Number of processes with an exited thread. */
size_t resource_usage_ended_count(const struct resource_usage *usage);
/* Merges the chosen processes, by index, into groups, except those with threads whose exit is
 * unknown. In the others, threads that exited before before_ns are merged. Indexes change:
 * (*ret_numbers)[old] is the new index of a process, in an array that the caller frees. -ENOMEM:
 * nothing has changed. */
int resource_usage_merge(struct resource_usage *usage, const bool *chosen, uint64_t before_ns,
			 uint32_t **ret_numbers);
/* The group that a process of this name and cgroup belongs to, or would; false: none. */
bool resource_usage_find_group(const struct resource_usage *usage, const char *comm,
			       uint64_t cgroup_id, size_t *ret_index);

/* True when there is something to account (a start and an end). */
bool resource_usage_known(const struct resource_usage *usage);
/* Bounds of the account, CLOCK_MONOTONIC; 0: unknown. */
uint64_t resource_usage_start_ns(const struct resource_usage *usage);
uint64_t resource_usage_end_ns(const struct resource_usage *usage);
/* Number of threads of the start without any later record; they are not reported. */
uint64_t resource_usage_missing(const struct resource_usage *usage);
size_t resource_usage_process_count(const struct resource_usage *usage);
struct resource_process resource_usage_process(const struct resource_usage *usage, size_t index);
size_t resource_usage_thread_count(const struct resource_usage *usage);
/* false: no last values. */
bool resource_usage_thread(const struct resource_usage *usage, size_t index,
			   struct resource_thread *ret_thread);
/* The process that had the pid at that time; false: unknown. */
bool resource_usage_find(const struct resource_usage *usage, uint32_t pid, uint64_t time_ns,
			 size_t *ret_index);
struct resource_machine resource_usage_machine(const struct resource_usage *usage);
/* Time of all CPUs together in the interval. cpu_count: most at a time, for recordings without the
 * number of those that were online. */
uint64_t resource_machine_cpu_ns(const struct resource_machine *machine, uint32_t cpu_count);
/* NULL: unknown. */
const char *resource_usage_cgroup(const struct resource_usage *usage, uint64_t cgroup_id);
/* Name of its container; NULL: unknown. */
const char *resource_usage_container(const struct resource_usage *usage, uint64_t cgroup_id);
size_t resource_usage_cgroup_limit_count(const struct resource_usage *usage);
/* false: removed before the end. */
bool resource_usage_cgroup_limit(const struct resource_usage *usage, size_t index,
				 struct resource_cgroup_limit *ret_limit);
/* Bytes at which allocations of the cgroup begin to wait or fail, 0: never. */
uint64_t resource_memory_bound(const struct resource_cgroup_limit *limit);

/* An account as a value: reading it before ticks are divided, and putting it into another
 * account. Put values add to those of the same process (pid and start time), thread (tid and
 * start time), group or cgroup. Of states the last is kept, so put accounts in time order. */
struct resource_process resource_usage_raw_process(const struct resource_usage *usage,
						   size_t index);
/* false: no last values. */
bool resource_usage_raw_thread(const struct resource_usage *usage, size_t index,
			       struct resource_thread *ret_thread);
/* The next cgroup or container with its path or name, NULL at the end; *cursor is 0 at the
 * start. */
const char *resource_usage_cgroup_at(const struct resource_usage *usage, size_t *cursor,
				     uint64_t *ret_cgroup_id);
const char *resource_usage_container_at(const struct resource_usage *usage, size_t *cursor,
					uint64_t *ret_cgroup_id);
/* Sets the interval of the account and its number of missing threads. */
void resource_usage_put_known(struct resource_usage *usage, uint64_t start_ns, uint64_t end_ns,
			      uint64_t missing);
/* Returns its index here; UINT32_MAX: out of memory. */
uint32_t resource_usage_put_process(struct resource_usage *usage,
				    const struct resource_process *process);
/* RSS at the end is known of these processes alone, if of any of them: others have ended where
 * nobody looked, such as between two captures. -ENOMEM. */
int resource_usage_forget_rss(struct resource_usage *usage, const uint32_t *indices, size_t count);
/* Needs its process first, whose index here it has. -ENOMEM. */
/* -ENOMEM, -EINVAL; -ENOSPC: too many, and it is left out; so is the limit of a cgroup below. */
int resource_usage_put_thread(struct resource_usage *usage, const struct resource_thread *thread);
void resource_usage_put_machine(struct resource_usage *usage,
				const struct resource_machine *machine);
int resource_usage_put_cgroup(struct resource_usage *usage, uint64_t cgroup_id, const char *path);
int resource_usage_put_container(struct resource_usage *usage, uint64_t cgroup_id,
				 const char *name);
int resource_usage_put_cgroup_limit(struct resource_usage *usage,
				    const struct resource_cgroup_limit *limit);

#endif
