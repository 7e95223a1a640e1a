/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of kernel types that hold what tasks have used; flavours of the types in vmlinux.h. */
#ifndef PKBPF_VMLINUX_RESOURCE_H
#define PKBPF_VMLINUX_RESOURCE_H

#include "vmlinux.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file___resource {
	unsigned long count;
};

struct bpf_iter_meta___resource {
	struct seq_file *seq;
	u64 session_id;
	u64 seq_num; /* of the object, from 0 */
};

/* The iterator's context; its fields are at the same place in all kernels. */
struct bpf_iter__task___resource {
	struct bpf_iter_meta___resource *meta;
	struct task_struct *task;
};

struct task_io_accounting___resource {
	u64 read_bytes;
	u64 write_bytes;
	u64 cancelled_write_bytes;
};

struct sched_entity___resource {
	u64 sum_exec_runtime;
};

struct sched_info___resource {
	unsigned long long run_delay;
};

struct percpu_counter___resource {
	s64 count;
};

/* Since 6.2; the counts are exact to a few pages per CPU. */
struct mm_struct___resource {
	unsigned long hiwater_rss;
	struct percpu_counter___resource rss_stat[4];
};

struct mm_rss_stat___before_6_2 {
	struct {
		s64 counter;
	} count[4];
};

struct mm_struct___before_6_2 {
	struct mm_rss_stat___before_6_2 rss_stat;
};

struct signal_struct___resource {
	unsigned long maxrss;
};

struct task_struct___resource {
	struct sched_entity___resource se;
	struct sched_info___resource sched_info;
	struct mm_struct___resource *mm;
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	struct signal_struct___resource *signal;
	u64 utime, stime;
	unsigned long nvcsw, nivcsw;
	unsigned long min_flt, maj_flt;
	u64 start_time;
	struct task_io_accounting___resource ioac;
};

struct cgroup_subsys_state___resource {
	struct cgroup_subsys_state___resource *parent;
};

struct cpuacct___resource {
	struct cgroup_subsys_state___resource css;
	u64 *cpuusage; /* per CPU */
};

struct task_group___resource {
	struct cgroup_subsys_state___resource css;
	void **cfs_rq; /* of each CPU; of the root group they are part of the CPU's run queue */
};

struct bpf_array___resource {
	void *pptrs[1]; /* of a per-CPU array: its elements, per CPU */
};

struct css_set___resource {
	struct cgroup_subsys_state___resource *subsys[1]; /* by enum cgroup_subsys_id */
};

/* Before 5.17 (dd02d4234c9a) what cpuusage points to. */
struct cpuacct_usage___resource {
	u64 usages[2];
};

#pragma clang attribute pop

enum cgroup_subsys_id___resource { cpu_cgrp_id___resource, cpuacct_cgrp_id___resource };

#endif
