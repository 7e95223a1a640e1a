/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Accessors for kernel fields and arguments that were renamed, moved or added between kernels. */
#ifndef PKBPF_KERNEL_COMPAT_BPF_H
#define PKBPF_KERNEL_COMPAT_BPF_H

#include "shared.bpf.h"

/* task->state became __state in 5.14 (2f064a59a11f). Retire with 5.10. */
static __always_inline __u32 task_state(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return (__u32)BPF_CORE_READ((struct task_struct___before_5_14 *)task, state);
}

/* Since 5.18 (fa2c3254d7cf) sched_switch passes the state with which prev left the CPU. On older
 * kernels it is read from the task, where a waker may have changed it meanwhile. User space counts
 * the tracepoint's arguments in BTF. Retire with 5.15. */
static __always_inline __u32 switch_state(unsigned long long *ctx, struct task_struct *prev,
					  bool is_argument)
{
	return is_argument ? (__u32)ctx[3] : task_state(prev);
}

/* The parent directory; its field was renamed in 6.15. */
static __always_inline struct kernfs_node *kernfs_parent(struct kernfs_node *node)
{
	struct kernfs_node___since_6_15 *renamed = (void *)node;

	if (bpf_core_field_exists(renamed->__parent))
		return BPF_CORE_READ(renamed, __parent);
	return BPF_CORE_READ(node, parent);
}

#endif
