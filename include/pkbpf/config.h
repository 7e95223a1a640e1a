/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Settings that user space passes to the BPF programs before they are loaded (a constant in
 * .rodata). */
#ifndef PKBPF_CONFIG_H
#define PKBPF_CONFIG_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

enum pkbpf_target_mode {
	PKBPF_TARGET_HOST = 0,	  /* everything */
	PKBPF_TARGET_PROCESS = 1, /* thread groups in map target_pids */
	PKBPF_TARGET_THREAD = 2,  /* threads in map target_tids */
	PKBPF_TARGET_CGROUP = 3,  /* tasks below the cgroups in map target_cgroup */
};

/* Maximum number of target cgroups. */
#define PKBPF_TARGET_CGROUPS_MAX 64

/* Which children of a target process become targets. */
enum pkbpf_follow {
	PKBPF_FOLLOW_NONE = 0,
	PKBPF_FOLLOW_WORKERS = 1,     /* children that run the same program: forked, not exec'd */
	PKBPF_FOLLOW_DESCENDANTS = 2, /* all descendants, with any program */
};

/* Why a process is a target. */
enum pkbpf_target_reason {
	PKBPF_TARGET_NAMED = 1,	   /* chosen by the user: stays a target after exec */
	PKBPF_TARGET_FOLLOWED = 2, /* child of a target */
};

/* Value of the maps target_pids and target_tids. */
struct pkbpf_target {
	/* Start of the task since boot; user space knows whole ticks of PKBPF_TICK_NS (/proc has
	 * USER_HZ, which is 100) only; 0: not known. A number is free, and can have another owner,
	 * before the end of the task that had it is seen. */
	__u64 start_ns;
	__u32 reason; /* enum pkbpf_target_reason */
	__u32 reserved;
};
#define PKBPF_TICK_NS 10000000ULL

enum pkbpf_unwind_mode {
	PKBPF_UNWIND_AUTO = 0,	/* tables; frame pointers for code without a table */
	PKBPF_UNWIND_DWARF = 1, /* tables only */
	PKBPF_UNWIND_FP = 2,	/* the kernel's frame-pointer helper */
};

enum pkbpf_python_mode {
	PKBPF_PYTHON_AUTO = 0, /* Python frames instead of the interpreter's loop */
	PKBPF_PYTHON_FULL = 1, /* Python frames and all native frames */
	PKBPF_PYTHON_OFF = 2,
};

struct pkbpf_bpf_config {
	__u32 target_mode; /* enum pkbpf_target_mode */
	__u32 unwind_mode; /* enum pkbpf_unwind_mode */
	__u8 follow;	   /* enum pkbpf_follow */
	__u8 want_user_stack;
	__u8 want_kernel_stack;
	__u8 match_comm;	 /* only tasks whose group leader's comm equals comm */
	__u32 ring_wakeup_bytes; /* bytes waiting in the ring that wake its reader */
	/* bytes that one CPU may add before it checks how much is waiting */
	__u32 ring_look_bytes;
	/* copies of stack memory per CPU and per kind of event, unwound later in user space */
	__u32 raw_stacks_per_second;
	/* some kind of event recognizes stacks by the words that the unwinder has read */
	__u32 log_walks;
	/* type of access with which a kernel word is read in place; 0: no type works */
	__u32 word_type;
	__u32 want_python; /* Python frames in user stacks */
	__u32 reserved;
	char comm[16];
};

/* In .bss: what programs leave out to cost less; all 0: nothing. A mask of 2^n - 1 leaves one in
 * 2^n. */
struct pkbpf_shed_control {
	__u32 cpu_mask;	    /* CPU samples */
	__u32 fault_shift;  /* page faults with a stack: one in 2^n of those sampled */
	__u32 blockio_mask; /* stacks of block requests that are not remembered */
	__u32 no_wakers;    /* stacks of wakers */
	/* stacks of waits per thread and PKBPF_OFFCPU_WINDOW_NS at most, for user space, which
	 * chooses the quota; 0: as many as that finds right */
	__u32 wait_quota;
};

/* In .bss, for the program that samples CPUs. */
struct pkbpf_cpu_control {
	__u64 start_ns; /* of the interval; 0 before and after it */
	/* time between two samples of a CPU, written before events are opened; 0: the event does
	 * not count time */
	__u64 period_ns;
};

/* For all programs that recognize stacks (stack_memo.h). */
struct pkbpf_memo_config {
	__u32 mask; /* entries - 1 */
};

/* For the off-CPU programs. */
struct pkbpf_offcpu_config {
	__u64 min_block_ns;
	__u32 thread_mask;     /* slots - 1 */
	__u8 switch_has_state; /* sched_switch passes prev's state */
	__u8 kernel_threads;
	__u8 per_thread;
	__u8 wakers;
	__u16 want_resources; /* resource usage of threads is recorded as well */
	__u16 locks;	      /* waits for locks are added up by lock and holder */
	/* process of a command that starts only after the interval has begun and waits for pkbpf;
	 * 0: none */
	__u32 waiting_pid;
	/* waits of this length or more are also sent one by one; 0: none */
	__u64 trace_ns;
};

/* In .bss: user space starts and ends the interval, and limits how many waits get a stack. */
struct pkbpf_offcpu_control {
	__u64 start_ns; /* 0: not yet */
	__u64 end_ns;	/* 0: not yet */
	/* time at which the task iterator visits long waits; 0: the iterator runs for an edge of
	 * the interval */
	__u64 visit_ns;
	/* waits per thread and PKBPF_OFFCPU_WINDOW_NS that all get a stack; 0: no limit */
	__u32 quota;
	/* Some thread found no room for its account. Accounts may therefore begin late. */
	__u32 had_no_room;
	/* the task iterator has not yet visited all threads that existed at the start */
	__u32 looking;
	/* waker stacks that may still be taken before user space sets this again */
	__u32 waker_stacks;
	/* wake-ups of any thread seen while wakers are sampled; approximate */
	__u64 wakeups;
	__u64 cut_ns;  /* of the last cut; 0: none yet */
	__u64 wall_ns; /* how far CLOCK_REALTIME is ahead of CLOCK_MONOTONIC */
};

/* For the programs that see regions. */
struct pkbpf_span_config {
	__u8 has_accounts; /* off-CPU profiling keeps accounts of threads */
	__u8 want_frames;  /* samples and stacks know the region of their thread */
	__u8 want_slow;	   /* those that take long are sent one by one */
	__u8 want_callers; /* calls are added up by stack, too */
	__u8 counts_hits;  /* of markers, at the site that the cookie of their probe tells */
	__u8 reserved[3];
	__u64 slow_region_ns, slow_function_ns; /* from how long on; UINT64_MAX: never */
};

/* In .bss. */
struct pkbpf_span_control {
	__u64 start_ns; /* 0: not yet */
	__u64 end_ns;	/* 0: not yet */
	__u32 epoch;	/* of entries in span_callers: user space reads those of earlier ones */
	__u32 has_gaps; /* span_gaps has entries */
};

/* For the programs that read thread contexts; zeros: they do not. */
struct pkbpf_context_config {
	__u8 by_label; /* stacks and samples know the first label, in place of a region */
	__u8 requests; /* requests are measured, by the accounts of threads */
	__u8 hashed;   /* bit mask of labels whose values are hashed */
	__u8 reserved[5];
	__u64 slow_ns;	 /* requests that take as long are sent one by one; UINT64_MAX: none */
	__u64 secret[2]; /* key of the hash */
};

/* For the block I/O programs. */
struct pkbpf_blockio_config {
	/* request tracepoints pass the queue as first argument, as before 5.11 */
	__u8 queue_argument;
	/* the same for block_getrq: stable 5.10 kernels changed the request tracepoints only */
	__u8 getrq_queue_argument;
	__u8 per_thread;
	__u8 sees_merges; /* the kernel reports merges of requests (5.11) */
	/* bytes of slow-request records waiting in their ring that wake its reader */
	__u32 slow_wakeup_bytes;
};

/* In .bss. */
struct pkbpf_blockio_control {
	__u64 start_ns; /* 0: not yet */
	__u64 end_ns;	/* 0: not yet */
	/* requests of this latency or more are sent one by one; user space raises it during the
	 * interval */
	__u64 slow_ns;
};

/* For the page-fault programs. */
struct pkbpf_faults_config {
	/* windows of 2^n ns, in each of which a CPU takes some 32 stacks; at most 40 */
	__u32 window_shift;
};

/* For the page-fault programs, in .bss: user space starts and ends the interval. */
struct pkbpf_faults_control {
	__u64 start_ns; /* 0: not yet */
	__u64 end_ns;	/* 0: not yet */
	/* set by the programs: fault_announced had no room for some process */
	__u32 announced_is_full;
	__u32 cutting; /* the iterator runs at a cut: its counts belong to the slice that ends */
};

/* For the programs of sampled allocations, in .bss: user space starts and ends the interval. */
struct pkbpf_alloc_control {
	__u64 start_ns; /* 0: not yet */
	__u64 end_ns;	/* 0: not yet */
	/* probes of a window come on and off one after the other: calls count while all are on */
	__u32 window_is_open;
	__u32 reserved;
};

/* Groups of functions of GPU libraries (gpu_call.h), and one more. */
#define PKBPF_GPU_GROUPS 8

/* For the programs at calls of GPU libraries, in .bss; only user space writes to it. */
struct pkbpf_gpu_control {
	__u64 start_ns, end_ns; /* of the interval; 0: not yet */
	__u32 epoch;		/* of rows; raised when they are read */
	__u32 reserved;
	/* One call in mask + 1 has its stack read. */
	__u32 masks[PKBPF_GPU_GROUPS];
};

/* For the programs of resident memory, in .bss. */
struct pkbpf_memory_control {
	__u64 start_ns; /* 0: not yet */
	__u64 end_ns;	/* 0: not yet */
	__u32 page_bytes;
	__u32 takes_reads; /* 1: memory that is only read has pages of its own */
};

/* For resource accounts, in .bss: written before the task iterator is read. */
struct pkbpf_resource_control {
	__u32 moment; /* enum pkbpf_resource_moment (resource.h) */
	__u32 page_bytes;
	/* highest possible CPU number plus one; 0: cpus_read and threads_ns are not wanted */
	__u32 cpu_count;
	/* Answers, from 0: the number of CPUs read, and the sum of the kernel's counts for all
	 * threads on them. */
	__u32 cpus_read;
	__u64 threads_ns;
	/* id of the cgroup below which cgroups get names, written before programs are loaded; 0: no
	 * names wanted */
	__u64 cgroup_root_id;
};

/* In .bss: the kernel's own unwind tables (orc.h). User space requests them, one BPF program finds
 * them, and the CPU sampling program reads them. */
struct pkbpf_orc_tables {
	__u32 format;	  /* enum pkbpf_orc_format */
	__u32 text_bytes; /* 0: no tables; the kernel unwinds its stacks */
	__u64 text_start;
	/* where the code of each entry begins: __s32 relative to the field's own address */
	__u64 addresses;
	__u64 entries;
	__u64 blocks; /* number of the first entry of each block of text */
	/* return addresses that replace others, which only the kernel knows; 0: none */
	__u64 trampolines[2];
};

/* In .bss: an address for the program that symbolizes kernel addresses, and its answer. */
struct pkbpf_kernel_name {
	__u64 address;
	/* "symbol+0xoffset/0xsize [module]"; a symbol of the kernel has at most 512 bytes */
	char text[640];
};

/* For the network programs: numbers of system calls that are told apart. */
#define PKBPF_NETWORK_CALLS 512

struct pkbpf_network_config {
	__u8 call[PKBPF_NETWORK_CALLS]; /* enum pkbpf_network_call, by system call number */
	__u8 end[PKBPF_NETWORK_CALLS];	/* enum pkbpf_network_end, likewise */
	__u8 per_thread;		/* rows by thread */
	__u8 state_argument;		/* sched_switch passes the state; see switch_state() */
	__u8 has_storage;		/* sockets and threads have storage of programs */
	__u8 want_labels;		/* waits are to know their peer */
	__u8 want_stacks;		/* of a sample of messages */
	__u8 reserved[3];
};

struct pkbpf_network_control {
	__u64 start_ns; /* 0: the interval has not begun */
	__u64 end_ns;	/* 0: it has not ended */
	/* Rows from this one on are for processes whose further peers are counted together, unless
	 * user space has freed rows. */
	__u32 peer_rows;
	__u32 has_freed;
};

#endif
