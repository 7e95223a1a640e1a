// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds target cgroups. Functions of their own, so that the verifier goes through their loops
 * once and not in each program. */
#include "task_filter.bpf.h"

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

/* By id, because the helper that compares cgroups takes the current task only. In a map: the
 * verifier of 5.10 gives up on a search within this loop. */
__attribute__((noinline)) int filter_below_cgroup(__u64 address)
{
	struct kernfs_node *node = (void *)address;

	for (int depth = 0; depth < FILTER_CGROUP_DEPTH && node; depth++) {
		__u64 id = BPF_CORE_READ(node, id);

		if (bpf_map_lookup_elem(&target_cgroup_ids, &id))
			return 1;
		node = kernfs_parent(node);
	}
	return 0;
}
