/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes and threads used in the interval, from the running totals the kernel keeps for
 * each thread: last numbers minus those at the start, or minus nothing for threads started inside.
 * A process is a pid and the moment it began; exec leaves it the same. One owner thread.
 *
 * Bounds: RESOURCE_PROCESSES_MAX processes and RESOURCE_THREADS_MAX threads are kept apart.
 * Processes beyond are added up in one row (pid 0, comm "[others]"); threads beyond count in their
 * process alone. Before that, those that are over can be told in groups (pid 0) of one name and
 * cgroup, of which there are RESOURCE_GROUPS_MAX at most.
 */
#ifndef PKBPF_PROFILE_ACCOUNT_RESOURCE_USAGE_H
#define PKBPF_PROFILE_ACCOUNT_RESOURCE_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/resource_event.h"

#define RESOURCE_PROCESSES_MAX	(1U << 18)
#define RESOURCE_THREADS_MAX	(1U << 18)
#define RESOURCE_GROUPS_MAX	(1U << 12)
#define RESOURCE_CPU_LIMITS_MAX (1U << 12) /* others are left out */
#define RESOURCE_OTHERS_COMM	"[others]"

struct resource_thread {
	uint32_t pid, tid;	   /* tid 0: several that exited */
	uint32_t process;	   /* index */
	uint64_t start_ns, end_ns; /* end 0: lives */
	bool started_inside;
	char comm[PKBPF_COMM_SIZE + 1];
	uint32_t threads;	       /* behind it: 1, others for tid 0 */
	struct resource_counters used; /* in the interval, user + system = run */
};

struct resource_process {
	uint32_t pid, parent_pid;
	uint64_t start_ns; /* CLOCK_MONOTONIC, may be long before the interval */
	uint64_t end_ns;   /* 0: lives */
	bool started_inside;
	char comm[PKBPF_COMM_SIZE + 1];
	bool comm_is_known; /* of its first thread; else that of any */
	uint64_t cgroup_id; /* 0 unknown */
	uint32_t threads;   /* alive at the end */
	/* alive at any time in the interval; 0: no target, for all that is known */
	uint32_t threads_seen;
	uint32_t threads_counted; /* of those, whose last numbers are known */
	uint32_t processes;	  /* behind this row: 1, others for groups and the others (pid 0) */
	uint32_t oom_killed;	  /* of those, killed by the OOM killer */
	struct resource_counters used;
	bool rss_known;	   /* at the end */
	bool growth_known; /* alive at both ends, or started inside */
	uint64_t rss_bytes, start_rss_bytes, peak_rss_bytes; /* peak: of its whole life */
	uint64_t anonymous_rss_bytes,
		start_anonymous_rss_bytes; /* a kernel may tell 0 of some 100 KiB */
};

struct resource_machine {
	bool known;
	uint64_t elapsed_ns; /* between the two readings */
	uint64_t busy_ns, idle_ns, iowait_ns, steal_ns,
		irq_ns;	     /* in the interval, all CPUs together */
	uint64_t threads_ns; /* in the interval, all CPUs together: ran any thread; 0 unknown */
	uint64_t memory_bytes, memory_available_bytes; /* at the end */
};

/* A cgroup that may use so much of the CPUs, and what it met of that in the interval. */
struct resource_cpu_limit {
	uint64_t cgroup_id; /* in the hierarchy of the cpu controller */
	const char *path;
	uint64_t quota_ns, period_ns; /* at the end */
	/* in which it had something to run, and of those, in which it was throttled */
	uint64_t periods, throttled_periods;
	uint64_t throttled_ns; /* each CPU that it was throttled on for itself */
};

struct resource_usage;

struct resource_usage *resource_usage_new(void);
void resource_usage_free(struct resource_usage *usage);
/* Takes a record in when it is one of the account's; in order of time. -ENOMEM; -EBADMSG: a
 * malformed one. */
int resource_usage_feed(struct resource_usage *usage, const struct pkbpf_event_header *record);

/* Accounts of slices that follow each other, while records of the first one may still come. */
struct resource_slices {
	struct resource_usage *closing; /* NULL: none */
	struct resource_usage *running;
	uint64_t cut_ns; /* where the one begins and the other ends */
};

/* The account that follows another one, and knows what was told once for all. -ENOMEM. */
int resource_usage_follow(struct resource_usage *next, const struct resource_usage *before);
/* As resource_usage_feed(), into the account that a record belongs to. */
int resource_usage_feed_slices(const struct resource_slices *slices,
			       const struct pkbpf_event_header *record);
/*
 * No more records come to the first one: threads of which it has no last numbers go on in the next
 * one, and so do readings that have no end. -ENOMEM: some of them are missing.
 */
int resource_usage_close(const struct resource_slices *slices);

/* Processes of which a thread exited. */
size_t resource_usage_ended_count(const struct resource_usage *usage);
/* Tells the chosen processes, by their indexes, in groups, but none with threads whose end is not
 * known; of the others, threads that ended before this time are grouped. Indexes change:
 * (*ret_numbers)[old] is the new one of a process, in an array that the caller frees. -ENOMEM:
 * nothing is changed. */
int resource_usage_merge(struct resource_usage *usage, const bool *chosen, uint64_t before_ns,
			 uint32_t **ret_numbers);
/* The group that a process of this name and cgroup is told in, or would be; false: none. */
bool resource_usage_find_group(const struct resource_usage *usage, const char *comm,
			       uint64_t cgroup_id, size_t *ret_index);

/* Was anything fed in that can be accounted (a start and an end)? */
bool resource_usage_known(const struct resource_usage *usage);
/* Of the account, CLOCK_MONOTONIC; 0: not known. */
uint64_t resource_usage_start_ns(const struct resource_usage *usage);
uint64_t resource_usage_end_ns(const struct resource_usage *usage);
/* Threads that were there at the start and of whose end nothing is known: nothing is said about
 * them. */
uint64_t resource_usage_missing(const struct resource_usage *usage);
size_t resource_usage_process_count(const struct resource_usage *usage);
struct resource_process resource_usage_process(const struct resource_usage *usage, size_t index);
size_t resource_usage_thread_count(const struct resource_usage *usage);
/* false: a thread without last numbers. */
bool resource_usage_thread(const struct resource_usage *usage, size_t index,
			   struct resource_thread *ret_thread);
/* The process that had the pid at that time; false: none known. */
bool resource_usage_find(const struct resource_usage *usage, uint32_t pid, uint64_t time_ns,
			 size_t *ret_index);
struct resource_machine resource_usage_machine(const struct resource_usage *usage);
/* NULL: not known. */
const char *resource_usage_cgroup(const struct resource_usage *usage, uint64_t cgroup_id);
/* What people call its container; NULL: not known. */
const char *resource_usage_container(const struct resource_usage *usage, uint64_t cgroup_id);
size_t resource_usage_cpu_limit_count(const struct resource_usage *usage);
/* false: it was gone at the end. */
bool resource_usage_cpu_limit(const struct resource_usage *usage, size_t index,
			      struct resource_cpu_limit *ret_limit);

/*
 * An account as a value: what it says, before ticks are divided, and the same put into another one.
 * What is put in adds to what is there of the same process (pid and birth), thread (tid and birth),
 * group or cgroup; of states the last is kept, so accounts are put in in order of time.
 */
struct resource_process resource_usage_raw_process(const struct resource_usage *usage,
						   size_t index);
/* false: a thread without last numbers. */
bool resource_usage_raw_thread(const struct resource_usage *usage, size_t index,
			       struct resource_thread *ret_thread);
/* The next cgroup or container with its path or name, NULL at the end; *cursor 0 at the start. */
const char *resource_usage_cgroup_at(const struct resource_usage *usage, size_t *cursor,
				     uint64_t *ret_cgroup_id);
const char *resource_usage_container_at(const struct resource_usage *usage, size_t *cursor,
					uint64_t *ret_cgroup_id);
/* The interval that the account is of, and threads of which nothing is known. */
void resource_usage_put_known(struct resource_usage *usage, uint64_t start_ns, uint64_t end_ns,
			      uint64_t missing);
/* Its index here; UINT32_MAX: out of memory. */
uint32_t resource_usage_put_process(struct resource_usage *usage,
				    const struct resource_process *process);
/* After its process, whose index here it has. -ENOMEM. */
int resource_usage_put_thread(struct resource_usage *usage, const struct resource_thread *thread);
void resource_usage_put_machine(struct resource_usage *usage,
				const struct resource_machine *machine);
int resource_usage_put_cgroup(struct resource_usage *usage, uint64_t cgroup_id, const char *path);
int resource_usage_put_container(struct resource_usage *usage, uint64_t cgroup_id,
				 const char *name);
int resource_usage_put_cpu_limit(struct resource_usage *usage,
				 const struct resource_cpu_limit *limit);

#endif
