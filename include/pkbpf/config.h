/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What user space tells the BPF programs before they are loaded (a constant in .rodata). */
#ifndef PKBPF_CONFIG_H
#define PKBPF_CONFIG_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

enum pkbpf_target_mode {
	PKBPF_TARGET_HOST = 0,	  /* everything */
	PKBPF_TARGET_PROCESS = 1, /* thread groups in map target_pids */
	PKBPF_TARGET_THREAD = 2,  /* threads in map target_tids */
	PKBPF_TARGET_CGROUP = 3,  /* tasks below the cgroup in map target_cgroup */
};

/* Which children of a target process become targets. */
enum pkbpf_follow {
	PKBPF_FOLLOW_NONE = 0,
	PKBPF_FOLLOW_WORKERS = 1,     /* those that run the same program: forked, not exec'd */
	PKBPF_FOLLOW_DESCENDANTS = 2, /* all, whatever they execute */
};

/* Values of map target_pids: why a process is a target. */
enum pkbpf_target_reason {
	PKBPF_TARGET_NAMED = 1,	   /* chosen itself: stays a target when it execs */
	PKBPF_TARGET_FOLLOWED = 2, /* child of one */
};

enum pkbpf_unwind_mode {
	PKBPF_UNWIND_AUTO = 0,	/* tables, frame pointers where code has none */
	PKBPF_UNWIND_DWARF = 1, /* tables only */
	PKBPF_UNWIND_FP = 2,	/* the kernel's frame-pointer helper */
};

struct pkbpf_bpf_config {
	__u32 target_mode; /* enum pkbpf_target_mode */
	__u32 unwind_mode; /* enum pkbpf_unwind_mode */
	__u8 follow;	   /* enum pkbpf_follow */
	__u8 want_user_stack;
	__u8 want_kernel_stack;
	__u8 match_comm;	     /* only tasks whose group leader's comm equals comm */
	__u32 ring_wakeup_bytes;     /* data waiting in the ring that wakes its reader */
	__u32 ring_look_bytes;	     /* that one CPU may add before it looks how much is waiting */
	__u32 raw_stacks_per_second; /* of a kind, that a CPU may copy, to be unwound later */
	/* some class of events recognises stacks by the words that a walk has read */
	__u32 log_walks;
	__u32 word_type; /* as what a word of the kernel is read in place; 0: none can be */
	char comm[16];
	/* CGROUP mode: the inode of its folder, by which programs know a cgroup */
	__u64 target_cgroup_id;
};

/* In .bss, for the program that samples CPUs. */
struct pkbpf_cpu_control {
	__u64 start_ns; /* of the interval; 0 before and after it */
	/* between two samples of a CPU, written before events are opened; 0: the event does not
	 * count time */
	__u64 period_ns;
};

/* For all programs that recognise stacks (stack_memo.h). */
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
	__u32 want_resources; /* what threads have used is accounted for as well */
	/* a command that has not begun when the interval does: it waits for us; 0: none */
	__u32 waiting_pid;
};

/* In .bss: user space starts and ends the interval, and thins out. */
struct pkbpf_offcpu_control {
	__u64 start_ns; /* 0: not yet */
	__u64 end_ns;	/* 0: not yet */
	/* the task iterator looks for waits that have become long; 0: it is for an edge */
	__u64 visit_ns;
	/* waits of one thread in PKBPF_OFFCPU_WINDOW_NS that all get a stack; 0: of any number */
	__u32 quota;
	/* for the account of a thread, so that there may be some that begin late */
	__u32 had_no_room;
	/* the task iterator has not yet met all threads that were there at the start */
	__u32 looking;
	/* stacks of wakers that may still be taken, until user space looks again */
	__u32 waker_stacks;
	/* wake-ups seen while wakers are sampled, of anybody; approximate */
	__u64 wakeups;
};

/* For the block I/O programs. */
struct pkbpf_blockio_config {
	__u8 queue_argument; /* tracepoints of requests pass the queue first, as before 5.11 */
	/* block_getrq does; stable 5.10 kernels have it changed for requests only */
	__u8 getrq_queue_argument;
	__u8 per_thread;
	__u8 sees_merges; /* of requests into others (5.11) */
	/* records of slow requests waiting in their ring that wake its reader */
	__u32 slow_wakeup_bytes;
};

/* In .bss. */
struct pkbpf_blockio_control {
	__u64 start_ns; /* 0: not yet */
	__u64 end_ns;	/* 0: not yet */
	/* requests that take as long are sent one by one; user space raises it on the way */
	__u64 slow_ns;
};

/* For the page-fault programs, in .bss: user space starts and ends the interval. */
struct pkbpf_faults_control {
	__u64 start_ns; /* 0: not yet */
	__u64 end_ns;	/* 0: not yet */
	/* set by the programs: some process had no room in fault_announced */
	__u32 announced_is_full;
	__u32 cutting; /* the iterator runs at a cut: what it counts up to now is over */
};

/* For the account of resources, in .bss: written before the task iterator is read. */
struct pkbpf_resource_control {
	__u32 moment; /* enum pkbpf_resource_moment (resource.h) */
	__u32 page_bytes;
	/* highest number of a CPU there may be, and one more; 0: nobody asks what follows */
	__u32 cpu_count;
	/* Answers, from 0: what the kernel has counted for all threads of so many CPUs together. */
	__u32 cpus_read;
	__u64 threads_ns;
	/* below which cgroups are named, written before programs are loaded; 0: nobody asks for
	 * names */
	__u64 cgroup_root_id;
};

/* In .bss: the kernel's own unwind tables (orc.h). User space asks, a program finds them, the one
 * that samples CPUs reads. */
struct pkbpf_orc_tables {
	__u32 format;	  /* enum pkbpf_orc_format */
	__u32 text_bytes; /* 0: no tables, the kernel walks its stacks */
	__u64 text_start;
	/* of code, where each entry begins to hold: __s32 relative to its own place */
	__u64 addresses;
	__u64 entries;
	__u64 blocks; /* the number of the entry with which each block of text begins */
	/* return addresses that stand for others, which only the kernel knows; 0: none */
	__u64 trampolines[2];
};

/* In .bss: a question to the program that names kernel addresses, and its answer. */
struct pkbpf_kernel_name {
	__u64 address;
	/* "symbol+0xoffset/0xsize [module]"; a symbol of the kernel has at most 512 bytes */
	char text[640];
};

#endif
