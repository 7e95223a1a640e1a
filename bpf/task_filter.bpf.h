/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decides whether a task is one of the targets. */
#ifndef PKBPF_TASK_FILTER_BPF_H
#define PKBPF_TASK_FILTER_BPF_H

#include "kernel_compat.bpf.h"
#include "shared.bpf.h"

struct target_map {			 /* by pid or tid */
	__uint(type, BPF_MAP_TYPE_HASH); /* preallocated, unless the loader changes it */
	__uint(max_entries, 1);		 /* set by the loader */
	__type(key, __u32);
	__type(value, struct pkbpf_target);
};
extern struct target_map target_pids SEC(".maps");
extern struct target_map target_tids SEC(".maps");

struct target_cgroup_map {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, PKBPF_TARGET_CGROUPS_MAX);
	__type(key, __u32);
	__type(value, __u32);
};
extern struct target_cgroup_map target_cgroup SEC(".maps");
/* Places of it in use. User space adds one after the other while programs run. */
extern __u32 target_cgroup_count;
/* The ids of the same cgroups -> 1. */
struct target_cgroup_ids_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PKBPF_TARGET_CGROUPS_MAX);
	__type(key, __u64);
	__type(value, __u8);
};
extern struct target_cgroup_ids_map target_cgroup_ids SEC(".maps");

static __always_inline bool filter_comm_matches(struct task_struct *task)
{
	char comm[16] = {};

	BPF_CORE_READ_STR_INTO(&comm, task, group_leader, comm);
#pragma unroll
	for (int i = 0; i < 16; i++) {
		if (comm[i] != config.comm[i])
			return false;
		if (!comm[i])
			break;
	}
	return true;
}

/* Targets chosen by pid or tid. The idle task is never a target. */
static __always_inline bool filter_number(__u32 pid, __u32 tid)
{
	switch (config.target_mode) {
	case PKBPF_TARGET_PROCESS:
		return tid && bpf_map_lookup_elem(&target_pids, &pid);
	case PKBPF_TARGET_THREAD:
		return tid && bpf_map_lookup_elem(&target_tids, &tid);
	}
	return tid != 0;
}

/* Is the current task below a target cgroup. */
int filter_under_cgroup(void);
/* Is the directory (struct kernfs_node *) one of a target cgroup or below one. */
int filter_below_cgroup(__u64 node);

/* Further conditions for the current task: cgroup and comm. */
static __always_inline bool filter_current_group(void)
{
	if (config.target_mode == PKBPF_TARGET_CGROUP && !filter_under_cgroup())
		return false;
	return !config.match_comm || filter_comm_matches((void *)bpf_get_current_task());
}

/* `pid` (thread group) and `tid` of the current task. */
static __always_inline bool filter_current(__u32 pid, __u32 tid)
{
	return filter_number(pid, tid) && filter_current_group();
}

/* filter_current() for any task. The target cgroup is compared by id, because the helper that
 * compares cgroups takes the current task only. */
static __always_inline bool filter_task(struct task_struct *task)
{
	if (!filter_number(BPF_CORE_READ(task, tgid), BPF_CORE_READ(task, pid)))
		return false;
	if (config.target_mode == PKBPF_TARGET_CGROUP &&
	    !filter_below_cgroup((__u64)BPF_CORE_READ(task, cgroups, dfl_cgrp, kn)))
		return false;
	return !config.match_comm || filter_comm_matches(task);
}

static __always_inline void target_forget(void *targets, __u32 number)
{
	if (!bpf_map_delete_elem(targets, &number))
		process_changed();
}

/* The task that had the number has ended. */
static __always_inline void target_forget_task(void *targets, __u32 number,
					       const struct task_struct *task)
{
	struct pkbpf_target *target = bpf_map_lookup_elem(targets, &number);

	if (target && !entry_is_of_another(target->start_ns, task))
		target_forget(targets, number);
}

/* A worker runs its parent's program, so a worker that executes another program stops being a
 * target. `forgotten`: the call may come after the target's entry was deleted. */
static __always_inline bool filter_is_leaving_worker(__u32 pid, bool forgotten)
{
	struct pkbpf_target *target;

	if (config.target_mode != PKBPF_TARGET_PROCESS || config.follow != PKBPF_FOLLOW_WORKERS)
		return false;
	target = bpf_map_lookup_elem(&target_pids, &pid);
	return target ? target->reason == PKBPF_TARGET_FOLLOWED : forgotten;
}

#endif
