// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Follows targets through fork and exit, in the kernel, so that a child is a target from its first instruction. */
#include "shared.bpf.h"
#include "task_filter.bpf.h"

SEC("tp_btf/sched_process_fork")
int BPF_PROG(follow_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_pid = parent->tgid, child_pid = child->tgid;
	__u8 reason = PKBPF_TARGET_FOLLOWED;

	if (child_pid == parent_pid)
		return 0;
	if (!bpf_map_lookup_elem(&target_pids, &parent_pid))
		return 0;
	if (bpf_map_update_elem(&target_pids, &child_pid, &reason, BPF_ANY))
		counter_add(PKBPF_COUNTER_LOST_TARGET_MAP_FULL, 1);
	return 0;
}

/* A worker runs its parent's program; what execs another one has left the group. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(leave_on_exec, struct task_struct *task)
{
	__u32 pid = task->tgid;
	__u8 *reason = bpf_map_lookup_elem(&target_pids, &pid);

	if (reason && *reason == PKBPF_TARGET_FOLLOWED)
		bpf_map_delete_elem(&target_pids, &pid);
	return 0;
}

/*
 * A number that is free again may become a stranger's: forget it. Not at the exit already, when other programs still have
 * to see that a target ends.
 */
SEC("tp_btf/sched_process_free")
int BPF_PROG(forget_exited, struct task_struct *task)
{
	__u32 pid = task->tgid, tid = task->pid;

	if (config.target_mode == PKBPF_TARGET_THREAD)
		bpf_map_delete_elem(&target_tids, &tid);
	/* The first thread is freed last. */
	if (config.target_mode == PKBPF_TARGET_PROCESS && tid == pid)
		bpf_map_delete_elem(&target_pids, &pid);
	return 0;
}
