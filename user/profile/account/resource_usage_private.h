/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by resource_usage.c and resource_usage_merge.c; private. */
#ifndef PKBPF_PROFILE_ACCOUNT_RESOURCE_USAGE_PRIVATE_H
#define PKBPF_PROFILE_ACCOUNT_RESOURCE_USAGE_PRIVATE_H

#include "base/array.h"
#include "base/hash_map.h"
#include "base/string_pool.h"
#include "profile/account/resource_counters.h"
#include "profile/account/resource_usage.h"

#define USAGE_NONE UINT32_MAX

struct usage_thread {
	uint32_t pid, tid; /* tid 0: the grouped exited threads of the process */
	uint32_t process;
	uint32_t members; /* with tid 0: number of threads */
	uint64_t start_ns, end_ns;
	bool started_inside, final;
	bool bystander;	 /* not known to be a target so far */
	bool moved;	 /* the next slice reports its usage since the start */
	uint8_t carries; /* slices that it came from since its last record */
	/* another thread of the process has called exec and taken its tid and start time */
	bool superseded;
	char comm[PKBPF_COMM_SIZE + 1];
	struct resource_counters counters; /* at the start; once final: usage in the interval */
};

struct usage_process {
	struct resource_process public;
	uint32_t previous; /* previous process of the same pid, USAGE_NONE at the end */
	/* 1 + number of the thread that represents the grouped ones; 0: none yet */
	uint32_t ended_threads;
};

struct usage_cgroup_limit {
	uint32_t path;			     /* string */
	struct cgroup_limit_view start, end; /* moment 0: unknown; without path */
	struct resource_cgroup_limit put;    /* from other accounts; id 0: none, path unused */
};

struct resource_usage {
	ARRAY_OF(struct usage_thread) threads;
	ARRAY_OF(struct usage_process) processes;
	struct hash_index thread_index;
	struct hash_index group_index; /* by name and cgroup */
	uint64_t seed;
	struct hash_map pids;		     /* pid -> its latest process */
	struct hash_map cgroups, containers; /* cgroup id -> string */
	ARRAY_OF(struct usage_cgroup_limit) cgroup_limits;
	struct hash_map cgroup_limit_of; /* cgroup id -> index */
	struct string_pool *strings;
	uint32_t others;	   /* USAGE_NONE until needed */
	size_t start_threads;	   /* threads of the start are below this index */
	size_t ended_count;	   /* processes with an exited thread */
	bool follows;		   /* this account follows another slice */
	uint64_t capture_ns;	   /* with follows: start of the first slice */
	uint64_t start_ns, end_ns; /* first record of each reading; 0: not yet */
	struct machine_view machine_start, machine_end;
	struct resource_machine put_machine; /* from other accounts */
	uint64_t put_missing;		     /* from other accounts */
};

/* Takes a record of any moment but CUT. */
int usage_take_thread(struct resource_usage *usage, const struct resource_view *view);
void usage_take_machine(struct resource_usage *usage, const struct machine_view *view);
int usage_take_cgroup(struct resource_usage *usage, const struct pkbpf_event_header *record);
int usage_take_cgroup_limit(struct resource_usage *usage, const struct cgroup_limit_view *view);
uint64_t usage_thread_hash(const struct resource_usage *usage, uint32_t tid, uint64_t start_ns);
/* Adds a process as the latest of its pid; pid 0: without a process of its own. USAGE_NONE: out
 * of memory. */
uint32_t usage_add_process(struct resource_usage *usage, uint32_t pid, uint64_t start_ns);
uint32_t usage_find_process(const struct resource_usage *usage, uint32_t pid, uint64_t start_ns);
/* NULL: unknown. */
struct usage_thread *usage_find_thread(struct resource_usage *usage, uint32_t tid,
				       uint64_t start_ns);
/* The group of a name and cgroup, created while there is room. USAGE_NONE: out of memory. */
uint32_t usage_get_group(struct resource_usage *usage, const char *comm, uint64_t cgroup_id);
/* The thread that represents the exited ones of a process. NULL: out of memory. */
struct usage_thread *usage_get_ended_threads(struct resource_usage *usage, uint32_t process);
/* The row for processes without room, created on demand. USAGE_NONE: out of memory. */
uint32_t usage_others(struct resource_usage *usage);

#endif
