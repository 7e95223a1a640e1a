/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel types our BPF programs use, by hand; see README.md in this folder. */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u8 u8;
typedef __s8 s8;
typedef __u16 u16;
typedef __s16 s16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
typedef int pid_t;
typedef unsigned int gfp_t;
typedef u64 sector_t;
typedef u32 dev_t;

enum { false = 0, true = 1 };

#define NULL ((void *)0)

/* uapi: numbers are stable, so no relocation */

enum bpf_map_type {
	BPF_MAP_TYPE_UNSPEC = 0,
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_HASH_OF_MAPS = 13,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_EXIST = 2,
	BPF_F_NO_PREALLOC = 1 << 0,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_F_INNER_MAP = 1 << 12,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

enum {
	BPF_F_USER_STACK = 1 << 8,
	BPF_F_SKIP_FIELD_MASK = 0xff,
};

enum {
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
	BPF_RB_RING_SIZE = 1,
};

/* Only existence and number of helpers are asked for; see bpf_core_enum_value_exists(). */
enum bpf_func_id {
	BPF_FUNC_task_pt_regs = 175,
	BPF_FUNC_get_current_task_btf = 158,
};

#if defined(__TARGET_ARCH_x86)
struct pkbpf_user_regs { /* uapi struct pt_regs of the perf_event context */
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct pkbpf_user_regs { /* uapi struct user_pt_regs */
	u64 regs[31], sp, pc, pstate;
};
#endif

struct bpf_perf_event_value { /* uapi */
	__u64 counter, enabled, running;
};

struct bpf_perf_event_data { /* uapi context of perf_event programs; loads from it are rewritten */
	struct pkbpf_user_regs regs;
	__u64 sample_period;
	__u64 addr;
};

/* kernel types: offsets are relocated at load time, only the named fields matter */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct hrtimer {
	s64 _softexpires;
};

struct hw_perf_event {
	struct hrtimer hrtimer; /* of software events */
};

struct perf_event {
	struct hw_perf_event hw;
};

struct bpf_perf_event_data_kern { /* what the context of perf_event programs really is */
	struct perf_event *event;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	u64 regs[31], sp, pc, pstate;
};
struct pt_regs {
	struct user_pt_regs user_regs;
	u64 orig_x0;
	s32 syscallno;
};
#endif

struct kernfs_node {
	u64 id;
	const char *name;
	struct kernfs_node *parent;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct css_set {
	struct cgroup *dfl_cgrp;
	struct cgroup_subsys_state *subsys[1]; /* by enum cgroup_subsys_id */
};

struct signal_struct {
	struct {
		int counter;
	} live; /* threads that have not begun to exit */
	unsigned long maxrss;
	struct mm_struct *oom_mm;
};

struct percpu_counter {
	s64 count;
	s32 *counters; /* per CPU */
};

struct xol_area { /* mapped as [uprobes] */
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct mm_struct {
	unsigned long start_brk, brk, start_stack;
	unsigned long hiwater_rss;
	/* since 6.2; the counts are exact to a few pages per CPU */
	struct percpu_counter rss_stat[4];
	struct uprobes_state uprobes_state;
};

struct task_io_accounting {
	u64 read_bytes;
	u64 write_bytes;
	u64 cancelled_write_bytes;
};

/* kept by every kernel with task accounting; depends on no setting since 5.14 */
struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay;
	unsigned long long last_arrival, last_queued;
};

struct sched_entity {
	u64 sum_exec_runtime;
	u64 prev_sum_exec_runtime; /* when the fair class last chose it to run */
	/* in a queue of the fair class; an int before 6.12, of which this is the lowest byte */
	unsigned char on_rq;
};

struct thread_struct {
	unsigned long fsbase; /* x86-64 */
	struct {
		unsigned long tp_value;
	} uw; /* arm64 */
};

struct task_struct {
	unsigned int __state;
	unsigned int on_cpu; /* a byte since 7.2: only numbers without a sign may differ in size */
	struct sched_entity se;
	struct sched_info sched_info;
	unsigned int flags;
	int exit_state;
	int prio;
	pid_t pid;
	pid_t tgid;
	void *stack;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct css_set *cgroups;
	char comm[16];
	u64 start_time;
	u64 start_boottime;
	u64 utime, stime;
	unsigned long nvcsw, nivcsw;
	unsigned long min_flt, maj_flt;
	int pagefault_disabled;
	struct task_io_accounting ioac; /* its fields are a matter of configuration */
	unsigned int in_iowait : 1;
	unsigned int frozen : 1;   /* with CONFIG_CGROUPS */
	struct uprobe_task *utask; /* with CONFIG_UPROBES */
	struct thread_struct thread;
};

/* A call of a function whose return a probe waits for. */
struct return_instance {
	unsigned long stack;
	unsigned long orig_ret_vaddr;
	struct return_instance *next; /* the call before */
};

struct uprobe_task {
	unsigned long vaddr;
	unsigned long xol_vaddr;
	struct return_instance *return_instances;
};

struct task_struct___before_5_14 {
	long state;
};

struct kernfs_node___since_6_15 {
	struct kernfs_node *__parent;
};

#pragma clang attribute pop

/* What iterators are given: at the same place in all kernels since 5.8, so no relocation. */

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 session_id;
	u64 seq_num; /* of the object, from 0 */
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_map;

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	void *key;
	void *value;
};

#endif
