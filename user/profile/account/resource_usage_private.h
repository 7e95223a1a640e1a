/* SPDX-License-Identifier: BSD-2-Clause */
/* What resource_usage.c and resource_usage_merge.c share; nobody else includes this. */
#ifndef PKBPF_PROFILE_ACCOUNT_RESOURCE_USAGE_PRIVATE_H
#define PKBPF_PROFILE_ACCOUNT_RESOURCE_USAGE_PRIVATE_H

#include "base/array.h"
#include "base/hash_map.h"
#include "base/string_pool.h"
#include "profile/account/resource_counters.h"
#include "profile/account/resource_usage.h"

#define USAGE_NONE UINT32_MAX

struct usage_thread {
	uint32_t pid, tid; /* tid 0: all exited threads of the process that are grouped */
	uint32_t process;
	uint32_t members; /* with tid 0: threads behind it */
	uint64_t start_ns, end_ns;
	bool started_inside, final;
	bool bystander; /* nothing says yet that it is a target */
	bool moved;	/* what it used since the start is told in the next slice */
	/* another thread of the process has its number and birth since that called exec */
	bool superseded;
	char comm[PKBPF_COMM_SIZE + 1];
	struct resource_counters counters; /* at the start; once final: used in the interval */
};

struct usage_process {
	struct resource_process public;
	uint32_t previous; /* of the same pid, USAGE_NONE at the end */
	/* 1 + number of the thread that stands for those grouped; 0: none yet */
	uint32_t ended_threads;
};

struct usage_cpu_limit {
	uint32_t path;			  /* string */
	struct cpu_limit_view start, end; /* moment 0: not known; without path */
	struct resource_cpu_limit put;	  /* of other accounts; period 0: nothing, path unused */
};

struct resource_usage {
	ARRAY_OF(struct usage_thread) threads;
	ARRAY_OF(struct usage_process) processes;
	struct hash_index thread_index;
	struct hash_index group_index; /* by name and cgroup */
	uint64_t seed;
	struct hash_map pids;		     /* pid -> its last process */
	struct hash_map cgroups, containers; /* cgroup id -> string */
	ARRAY_OF(struct usage_cpu_limit) cpu_limits;
	struct hash_map cpu_limit_of; /* cgroup id -> index */
	struct string_pool *strings;
	uint32_t others;	   /* USAGE_NONE until needed */
	size_t start_threads;	   /* those of the start are no further behind in threads */
	size_t ended_count;	   /* processes of which a thread exited */
	bool follows;		   /* another slice */
	uint64_t capture_ns;	   /* then: start of the first one */
	uint64_t start_ns, end_ns; /* first record of either reading; 0: not yet */
	struct machine_view machine_start, machine_end;
	struct resource_machine put_machine; /* of other accounts */
	uint64_t put_missing;		     /* likewise */
};

/* What a record says, of any moment but CUT. */
int usage_take_thread(struct resource_usage *usage, const struct resource_view *view);
void usage_take_machine(struct resource_usage *usage, const struct machine_view *view);
int usage_take_cgroup(struct resource_usage *usage, const struct pkbpf_event_header *record);
int usage_take_cpu_limit(struct resource_usage *usage, const struct cpu_limit_view *view);
uint64_t usage_thread_hash(const struct resource_usage *usage, uint32_t tid, uint64_t start_ns);
/* A process of the account, the last of its pid for now; for pid 0 one of nobody. USAGE_NONE: out
 * of memory. */
uint32_t usage_add_process(struct resource_usage *usage, uint32_t pid, uint64_t start_ns);
uint32_t usage_find_process(const struct resource_usage *usage, uint32_t pid, uint64_t start_ns);
/* NULL: not known. */
struct usage_thread *usage_find_thread(struct resource_usage *usage, uint32_t tid,
				       uint64_t start_ns);
/* The group of a name and cgroup, made when there is none, as long as there is room for more.
 * USAGE_NONE: out of memory. */
uint32_t usage_get_group(struct resource_usage *usage, const char *comm, uint64_t cgroup_id);
/* The thread that stands for those of a process that exited. NULL: out of memory. */
struct usage_thread *usage_get_ended_threads(struct resource_usage *usage, uint32_t process);
/* Where those are added up for which there is no room; made when it is needed. USAGE_NONE: out of
 * memory. */
uint32_t usage_others(struct resource_usage *usage);

#endif
