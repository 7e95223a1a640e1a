/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends the path of a cgroup that contains a target, once. Included by one file. */
#ifndef PKBPF_RESOURCE_CGROUP_BPF_H
#define PKBPF_RESOURCE_CGROUP_BPF_H

#include "kernel_compat.bpf.h"
#include "shared.bpf.h"

#include <pkbpf/resource.h>

#define CGROUPS_TOLD_MAX   4096
#define CGROUP_FOLDERS_MAX 32 /* seldom more than 10 */
/* Limits per 2^30 ns. When cgroups are removed faster than that, only names found by their
 * directories are known. Waking the reader for each cgroup would keep it busy. */
#define CGROUPS_TOLD_RATE  4096
#define CGROUPS_WOKEN_RATE 128

extern struct pkbpf_resource_control resource_control;

/* number of cgroups sent in this moment; a little low if CPUs count at once */
__u64 cgroups_told_moment = 0;
__u32 cgroups_told_count = 0;

struct cgroups_told_map { /* id -> sent, or not to be sent */
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CGROUPS_TOLD_MAX);
	__type(key, __u64);
	__type(value, __u8);
};
struct cgroups_told_map cgroups_told SEC(".maps");

struct cgroup_scratch {
	struct pkbpf_event_cgroup record;
	char names[PKBPF_CGROUP_NAMES_SIZE + PKBPF_CGROUP_NAME_SIZE];
	__u64 padding;
};

struct cgroup_scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cgroup_scratch);
};
struct cgroup_scratch_map cgroup_scratch SEC(".maps");

static __always_inline __u32 count_told(__u64 now_ns)
{
	if (cgroups_told_moment != now_ns >> 30) {
		cgroups_told_moment = now_ns >> 30;
		cgroups_told_count = 0;
	}
	return cgroups_told_count++;
}

/* Returns the bytes of all names; 0: there are none, too many, or they are too long. */
static __always_inline __u32 read_names(struct cgroup_scratch *scratch, struct kernfs_node *node)
{
	__u32 size = 0;

	for (int i = 0; i < CGROUP_FOLDERS_MAX; i++) {
		struct kernfs_node *parent = kernfs_parent(node);
		long got;

		/* The root of the hierarchy, or the root that user space sees. */
		if (!parent || BPF_CORE_READ(node, id) == resource_control.cgroup_root_id)
			return size;
		if (size >= PKBPF_CGROUP_NAMES_SIZE)
			return 0;
		got = bpf_probe_read_kernel_str(scratch->names + size, PKBPF_CGROUP_NAME_SIZE,
						BPF_CORE_READ(node, name));
		if (got <= 1 || got > PKBPF_CGROUP_NAME_SIZE)
			return 0;
		size += got;
		node = parent;
	}
	return 0;
}

/* False: no room. */
static __always_inline bool send_names(struct cgroup_scratch *scratch, __u64 id, __u64 now_ns,
				       __u32 size, bool wake)
{
	if (size > PKBPF_CGROUP_NAMES_SIZE + PKBPF_CGROUP_NAME_SIZE)
		return true;
	__builtin_memset(scratch->names + size, 0, sizeof(scratch->padding));
	size = (sizeof(scratch->record) + size + 7) & ~7U;
	scratch->record.header.size = size;
	scratch->record.header.kind = PKBPF_EVENT_CGROUP_NAMES;
	scratch->record.header.flags = 0;
	scratch->record.header.time_ns = now_ns;
	scratch->record.cgroup_id = id;
	return !bpf_ringbuf_output(&sample_ring, scratch, size,
				   wake ? BPF_RB_FORCE_WAKEUP
					: ring_wakeup(&sample_ring, config.ring_wakeup_bytes));
}

/*
 * Sends the names of the current task's cgroup and wakes the reader. User space reads the task's
 * record a good while after its exit. By then a cgroup made for the task alone has no directory,
 * and the files with its container's name may be gone as well. The cgroup cannot be removed while
 * the task is in it. The last quarter of the ring is reserved for other records.
 */
__attribute__((noinline)) int resource_tell_cgroup(__u64 id)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 now_ns = bpf_ktime_get_ns();
	__u64 most_waiting = config.ring_wakeup_bytes + config.ring_wakeup_bytes / 2;
	struct cgroup_scratch *scratch;
	struct kernfs_node *node;
	__u32 zero = 0, recent, size;
	__u8 told = 1;

	if (!id || !resource_control.cgroup_root_id || bpf_map_lookup_elem(&cgroups_told, &id))
		return 0;
	scratch = bpf_map_lookup_elem(&cgroup_scratch, &zero);
	recent = count_told(now_ns);
	/* The task may have been moved to another cgroup since the id was read. */
	node = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn);
	if (!scratch || recent >= CGROUPS_TOLD_RATE || BPF_CORE_READ(node, id) != id ||
	    bpf_ringbuf_query(&sample_ring, BPF_RB_AVAIL_DATA) > most_waiting)
		return 0;
	size = read_names(scratch, node);
	if (!size || send_names(scratch, id, now_ns, size, recent < CGROUPS_WOKEN_RATE))
		bpf_map_update_elem(&cgroups_told, &id, &told, BPF_ANY);
	return 0;
}

#endif
