/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Updates the unwinder's process entries at fork, exec and exit. */
#ifndef PKBPF_UNWIND_LIFECYCLE_BPF_H
#define PKBPF_UNWIND_LIFECYCLE_BPF_H

#include "shared.bpf.h"

/* End of the last exec, per group of processes with equal lower bits of the pid. */
#define UNWIND_LAST_EXECS 1024
static __u64 last_execs_ns[UNWIND_LAST_EXECS];

static __always_inline void unwind_forget_process(__u32 pid)
{
	if (!bpf_map_delete_elem(&unwind_processes, &pid))
		process_changed();
}

/* The process that had the number has ended. */
static __always_inline void unwind_forget_task(__u32 pid, const struct task_struct *task)
{
	struct pkbpf_unwind_process *entry = bpf_map_lookup_elem(&unwind_processes, &pid);

	if (entry && !entry_is_of_another(entry->start_ns, task))
		unwind_forget_process(pid);
}

/* A child has its parent's mappings, so it can be unwound from its first sample on. An entry of an
 * exited process with the same pid is never used. */
static __always_inline void unwind_follow_fork(__u32 parent_pid, const struct task_struct *child)
{
	struct pkbpf_unwind_process *entry, copy;
	__u32 child_pid = child->tgid;

	entry = bpf_map_lookup_elem(&unwind_processes, &parent_pid);
	if (!entry) {
		unwind_forget_process(child_pid);
		return;
	}
	copy = *entry;
	copy.start_ns = child->start_boottime;
	copy.exec_ns = 0; /* any program that the child executes is newer than this image */
	if (bpf_map_update_elem(&unwind_processes, &child_pid, &copy, BPF_ANY))
		counter_add(PKBPF_COUNTER_UNWIND_PROCESS_MAP_FULL, 1);
	else
		process_changed();
}

/*
 * The old image's mappings are gone, and those of the new image were announced before this event.
 * An entry therefore stays if its image is young and was started after the process's previous exec
 * had ended. An image from before that was the previous, short-lived one. If two processes share an
 * element of last_execs_ns, an entry may be deleted without need; it is soon made again.
 */
static __always_inline void unwind_forget_image(__u32 pid)
{
	struct pkbpf_unwind_process *entry = bpf_map_lookup_elem(&unwind_processes, &pid);
	__u64 *last_ns = &last_execs_ns[pid & (UNWIND_LAST_EXECS - 1)], before_ns = *last_ns,
	      now_ns = bpf_ktime_get_ns();

	*last_ns = now_ns;
	if (!entry)
		return;
	if (entry->exec_ns > before_ns && now_ns - entry->exec_ns < PKBPF_UNWIND_EXEC_WINDOW_NS)
		return;
	unwind_forget_process(pid);
}

#endif
