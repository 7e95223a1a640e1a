/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Uprobes of other tracers in a task's user code. */
#ifndef PKBPF_UPROBE_BPF_H
#define PKBPF_UPROBE_BPF_H

#include <pkbpf/offcpu.h>

#include "shared.bpf.h"

struct probed_calls_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_probed_calls);
};

extern struct probed_calls_map probed_calls SEC(".maps");

/* Returns the kernel's uprobe state of a task, and in *ret_area the start of its [uprobes] area,
 * which begins with the trampoline. NULL: the task has hit no probe. */
static __always_inline struct uprobe_task *find_probes(struct task_struct *task, __u64 *ret_area)
{
	struct uprobe_task *probes;

	if (!bpf_core_field_exists(task->utask))
		return NULL;
	probes = BPF_CORE_READ(task, utask);
	*ret_area = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
	return *ret_area ? probes : NULL;
}

/* Fills the map for a task that is not running, whose stack user space reads. A global function, so
 * that it takes scalars only: the results of find_probes(). Returns 1 if done. */
int uprobe_list_calls(__u64 task_probes, __u64 trampoline);

#endif
