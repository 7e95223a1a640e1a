/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernel types that hold what tasks have used, beside those in vmlinux.h. */
#ifndef PKBPF_VMLINUX_RESOURCE_H
#define PKBPF_VMLINUX_RESOURCE_H

#include "vmlinux.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mm_rss_stat___before_6_2 {
	struct {
		s64 counter;
	} count[4];
};

struct mm_struct___before_6_2 {
	struct mm_rss_stat___before_6_2 rss_stat;
};

/* Counted of the thread, and added to the process's later. */
struct task_rss_stat___before_6_2 {
	int count[4];
};

struct task_struct___before_6_2 {
	struct task_rss_stat___before_6_2 rss_stat;
};

struct cpuacct {
	struct cgroup_subsys_state css;
	u64 *cpuusage; /* per CPU */
};

struct task_group {
	struct cgroup_subsys_state css;
	void **cfs_rq; /* of each CPU; of the root group they are part of the CPU's run queue */
};

struct bpf_array {
	void *pptrs[1]; /* of a per-CPU array: its elements, per CPU */
};

/* Before 5.17 (dd02d4234c9a) what cpuusage points to. */
struct cpuacct_usage {
	u64 usages[2];
};

#pragma clang attribute pop

enum cgroup_subsys_id { cpu_cgrp_id, cpuacct_cgrp_id }; /* numbers are relocated */

#endif
