/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keeps the unwinder's process entries through fork, exec and exit. */
#ifndef PKBPF_UNWIND_LIFECYCLE_BPF_H
#define PKBPF_UNWIND_LIFECYCLE_BPF_H

#include "shared.bpf.h"

/* A child has its parent's mappings, so it can be unwound from its first sample on. */
static __always_inline void unwind_follow_fork(__u32 parent_pid, __u32 child_pid)
{
	struct pkbpf_unwind_process *entry, copy;

	entry = bpf_map_lookup_elem(&unwind_processes, &parent_pid);
	if (!entry)
		return;
	copy = *entry;
	copy.exec_ms = 0; /* whatever the child executes is newer than this image */
	if (bpf_map_update_elem(&unwind_processes, &child_pid, &copy, BPF_ANY))
		counter_add(PKBPF_COUNTER_UNWIND_PROCESS_MAP_FULL, 1);
	else
		process_changed();
}

static __always_inline void unwind_forget_process(__u32 pid)
{
	if (!bpf_map_delete_elem(&unwind_processes, &pid))
		process_changed();
}

/* The old image's mappings are gone; the new image's were announced before this, so a young entry stays. */
static __always_inline void unwind_forget_image(__u32 pid)
{
	struct pkbpf_unwind_process *entry = bpf_map_lookup_elem(&unwind_processes, &pid);

	if (!entry)
		return;
	if (entry->exec_ms && (__u32)(bpf_ktime_get_ns() / 1000000) - entry->exec_ms < PKBPF_UNWIND_EXEC_WINDOW_MS)
		return;
	unwind_forget_process(pid);
}

#endif
