// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps the unwinder's process entries through fork, exec and exit. */
#include "shared.bpf.h"

/* A child has its parent's mappings, so it can be unwound from its first sample on. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(unwind_follow_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_pid = parent->tgid, child_pid = child->tgid;
	struct pkbpf_unwind_process *entry, copy;

	if (child_pid == parent_pid)
		return 0;
	entry = bpf_map_lookup_elem(&unwind_processes, &parent_pid);
	if (!entry)
		return 0;
	copy = *entry;
	copy.exec_ms = 0; /* whatever the child executes is newer than this image */
	if (bpf_map_update_elem(&unwind_processes, &child_pid, &copy, BPF_ANY))
		counter_add(PKBPF_COUNTER_UNWIND_PROCESS_MAP_FULL, 1);
	return 0;
}

/* The old image's mappings are gone; the new image's were announced before this, so a young entry stays. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(unwind_forget_image, struct task_struct *task)
{
	struct pkbpf_unwind_process *entry;
	__u32 pid = task->tgid;

	entry = bpf_map_lookup_elem(&unwind_processes, &pid);
	if (!entry)
		return 0;
	if (entry->exec_ms && (__u32)(bpf_ktime_get_ns() / 1000000) - entry->exec_ms < PKBPF_UNWIND_EXEC_WINDOW_MS)
		return 0;
	bpf_map_delete_elem(&unwind_processes, &pid);
	return 0;
}

/* When the last of a process has gone. Not at its exit: until its memory is freed, what it does can be unwound. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(unwind_forget_exited, struct task_struct *task)
{
	__u32 pid = task->tgid;

	if ((__u32)task->pid == pid)
		bpf_map_delete_elem(&unwind_processes, &pid);
	return 0;
}
