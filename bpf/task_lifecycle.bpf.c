// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Fork, exec and exit of processes. The kernel side follows targets and unwindable processes, so
 * that a child is one from its first instruction. One program does both, because every process of
 * the host runs it. */
#include "shared.bpf.h"
#include "task_filter.bpf.h"
#include "unwind_lifecycle.bpf.h"

/* Constants to the verifier, which removes the unused code. */
static __always_inline bool targets_are_processes(void)
{
	return config.target_mode == PKBPF_TARGET_PROCESS;
}

static __always_inline bool stacks_are_unwound(void)
{
	return config.want_user_stack && config.unwind_mode != PKBPF_UNWIND_FP;
}

/* Not every free is seen (task_freed): the pid of a new process may still be in the map as that of
 * an exited target. */
static __always_inline void target_follow_fork(__u32 parent_pid, const struct task_struct *child)
{
	struct pkbpf_target target = {.start_ns = child->start_boottime,
				      .reason = PKBPF_TARGET_FOLLOWED};
	__u32 child_pid = child->tgid;

	if (config.follow == PKBPF_FOLLOW_NONE || !bpf_map_lookup_elem(&target_pids, &parent_pid)) {
		target_forget(&target_pids, child_pid);
		return;
	}
	if (bpf_map_update_elem(&target_pids, &child_pid, &target, BPF_ANY))
		counter_add(PKBPF_COUNTER_LOST_TARGET_MAP_FULL, 1);
	else
		process_changed();
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(task_forked, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_pid = parent->tgid, child_pid = child->tgid;

	if (config.target_mode == PKBPF_TARGET_THREAD)
		target_forget(&target_tids, child->pid);
	if (child_pid == parent_pid)
		return 0;
	if (targets_are_processes())
		target_follow_fork(parent_pid, child);
	if (stacks_are_unwound())
		unwind_follow_fork(parent_pid, child);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(task_executed, struct task_struct *task)
{
	__u32 pid = task->tgid;

	if (filter_is_leaving_worker(pid, false))
		target_forget(&target_pids, pid);
	if (stacks_are_unwound())
		unwind_forget_image(pid);
	return 0;
}

/* A free number may be reused for an unrelated process, so its entries are deleted here. Not at the
 * exit: other programs still have to see that a target exits, and the process can be unwound until
 * its memory is freed. By then another process may have the number, and its own entries. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(task_freed, struct task_struct *task)
{
	__u32 pid = task->tgid, tid = task->pid;

	if (config.target_mode == PKBPF_TARGET_THREAD)
		target_forget_task(&target_tids, tid, task);
	/* The first thread of a process is freed last. */
	if (tid != pid)
		return 0;
	if (targets_are_processes())
		target_forget_task(&target_pids, pid, task);
	if (stacks_are_unwound())
		unwind_forget_task(pid, task);
	return 0;
}
