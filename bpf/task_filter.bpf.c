// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds target cgroups. Functions of their own, so that the verifier goes through their loops
 * once and not in each program. */
#include "task_filter.bpf.h"

__u64 target_cgroup_ids[PKBPF_TARGET_CGROUPS_MAX] = {};
__u32 target_cgroup_count = 0;

/* Cgroups are seldom nested deeper than 10. */
#define FILTER_CGROUP_DEPTH 32

__attribute__((noinline)) int filter_under_cgroup(void)
{
	__u32 count = target_cgroup_count;

	for (__u32 i = 0; i < PKBPF_TARGET_CGROUPS_MAX && i < count; i++)
		if (bpf_current_task_under_cgroup(&target_cgroup, i) == 1)
			return 1;
	return 0;
}

/* By id, because the helper that compares cgroups takes the current task only. */
__attribute__((noinline)) int filter_below_cgroup(__u64 address)
{
	struct kernfs_node *node = (void *)address;
	__u32 count = target_cgroup_count;

	for (int depth = 0; depth < FILTER_CGROUP_DEPTH && node; depth++) {
		__u64 id = BPF_CORE_READ(node, id);

		for (__u32 i = 0; i < PKBPF_TARGET_CGROUPS_MAX && i < count; i++)
			if (target_cgroup_ids[i] == id)
				return 1;
		node = kernfs_parent(node);
	}
	return 0;
}
