/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the off-CPU programs and their source share: tables of threads, waits and lengths, which
 * user space maps and reads without system calls.
 *
 * A thread's time is cut at every context switch by one time stamp, so that on-CPU + run queue +
 * sleep + disk + uninterruptible + stopped is its wall clock time, to the nanosecond.
 */
#ifndef PKBPF_OFFCPU_H
#define PKBPF_OFFCPU_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>
#include <pkbpf/histogram.h>
#include <pkbpf/stack_memo.h>

/* Where a thread's time goes: state of off-CPU samples and totals. Part of the recording format. */
enum pkbpf_wait_state {
	PKBPF_WAIT_NONE = 0,	 /* on a CPU; only in PKBPF_OFFCPU_TIME */
	PKBPF_WAIT_RUNQUEUE = 1, /* able to run: preempted, or woken and not yet on a CPU */
	PKBPF_WAIT_SLEEP = 2,	 /* interruptible */
	PKBPF_WAIT_DISK = 3,	 /* uninterruptible, waits for I/O */
	/* uninterruptible for another reason: a lock in the kernel, a vfork child */
	PKBPF_WAIT_UNINTERRUPTIBLE = 4,
	PKBPF_WAIT_STOPPED = 5, /* by a signal, a debugger, or frozen */
	PKBPF_WAIT_STATES = 6,
};

/* measure of PKBPF_EVENT_TOTALS of kind OFFCPU. */
enum pkbpf_offcpu_measure {
	PKBPF_OFFCPU_WAITS = 0, /* waits of one stack: count, ns; waker_id with --wakers */
	/* a thread's account: times it entered a state, ns in it; all states and on-CPU */
	PKBPF_OFFCPU_TIME = 1,
	PKBPF_OFFCPU_LENGTHS = 2, /* a process's waits in a state: count and histogram */
	/* a thread's context switches: state 0 voluntary, 1 involuntary */
	PKBPF_OFFCPU_SWITCHES = 3,
	/* a thread's life within the interval, which its account must add up to: count 1, ns */
	PKBPF_OFFCPU_WALL = 4,
};

/* The run-queue part at the end of a wait that began otherwise counts no wait of its own, only its
 * time. */

#define PKBPF_NO_ROW PKBPF_MEMO_NONE
_Static_assert(PKBPF_WAIT_STATES <= PKBPF_MEMO_ROWS, "each state of a stack has a row of its own");

enum pkbpf_thread_place {
	PKBPF_THREAD_FREE = 0,
	PKBPF_THREAD_ON_CPU = 1,
	PKBPF_THREAD_OFF_CPU = 2,
	PKBPF_THREAD_ENDED = 3, /* its account is complete; user space frees the slot */
};

enum {
	PKBPF_THREAD_OPEN = 1,	  /* the wait in flight, or just ended, began before the interval */
	PKBPF_THREAD_VISITED = 2, /* it lasts so long that it stands for itself: see offcpu_edge */
};

/* Flag of a row beside PKBPF_TOTALS_*: it has one wait, and no other will be added. */
#define PKBPF_ROW_SINGLE 0x100

/* A thread that has many waits in one of these windows gets stacks of a part of them in the
 * next. */
#define PKBPF_OFFCPU_WINDOW_SHIFT 27
#define PKBPF_OFFCPU_WINDOW_NS	  (1ULL << PKBPF_OFFCPU_WINDOW_SHIFT)
/* Beyond one in 32 little is saved: a wait costs 2 us with a stack and 0.4 us without. */
#define PKBPF_OFFCPU_MAX_MASK 31
/* A wait of this length that has no stack when it is visited gets one. */
#define PKBPF_OFFCPU_LONG_NS 10000000ULL

#define PKBPF_THREAD_PROBES    8
#define PKBPF_THREAD_TOMBSTONE 0xffffffffU

/* Written by the CPU that switches the thread; user space only reads, and frees what exited. */
struct pkbpf_thread {
	/* Lines of the cache: what every switch looks at, what it adds to, and the rest. */
	__u32 tid; /* 0: never used, PKBPF_THREAD_TOMBSTONE: free again */
	__u32 pid;
	__u8 place; /* enum pkbpf_thread_place */
	__u8 state; /* enum pkbpf_wait_state of the wait in flight or ended last */
	__u8 flags;
	__u8 reserved;
	__u32 row;	    /* of that wait, PKBPF_NO_ROW: none */
	__u32 weight;	    /* waits that this one stands for; 0: not chosen */
	__u16 sample_mask;  /* one wait in sample_mask + 1 is chosen in this window */
	__u16 rare_waits;   /* chosen in it since there were few of their place */
	__u32 window;	    /* number of the window of time in which waits are counted now */
	__u32 window_waits; /* counted in it */
	__u64 since_ns;	    /* in its place */
	/* the kernel's sum of the thread's run-queue time, when the wait began */
	__u64 run_delay_ns;
	__u64 pending_ns; /* length of a wait that ended but is not yet split into its parts */
	__u64 ran_ns;	  /* the kernel's sum of the thread's CPU time, at its last switch */

	__u64 time_ns[PKBPF_WAIT_STATES];
	__u64 voluntary, involuntary;

	__u64 count[PKBPF_WAIT_STATES];
	__u64 without_stack; /* waits that were not chosen */
	/* how long the stack of a wait that stands for others took, which is part of the wait */
	__u64 taking_ns;

	__u64 stack_id; /* of the wait, for those that found no row */
	__u64 waker_id;
	__u64 first_ns; /* beginning of the account */
	__u64 born_ns;	/* start of the thread */
	__u64 cgroup_id;
	char comm[PKBPF_COMM_SIZE];
	__u64 reserved2;
};

_Static_assert(sizeof(struct pkbpf_thread) == 256, "map value");

/*
 * The slot that a search for a thread looks at after `probe` others, in a table of mask + 1 slots.
 * tids come in sequence: by their lower bits a pool's threads would be a solid run of slots, in
 * which a thread whose tid falls there as well finds no room. The upper bits of the product spread
 * a sequence evenly over the whole table.
 */
static inline __u32 pkbpf_thread_slot(__u32 tid, __u32 probe, __u32 mask)
{
	__u32 spread = tid * 0x9E3779B1U;

	return ((__u32)(spread * (mask + 1ULL) >> 32) + probe) & mask;
}

/* Waits of one stack in one state; all CPUs add to it. */
struct pkbpf_wait_row {
	__u64 stack_id, waker_id;
	__u32 pid, tid; /* tid 0: threads together */
	__u32 state;
	__u32 histogram;       /* of this state, PKBPF_NO_ROW: none */
	__u32 queue_histogram; /* of the run queue */
	__u32 flags;	       /* PKBPF_TOTALS_* */
	__u64 cgroup_id;
	char comm[PKBPF_COMM_SIZE];
	__u64 count, total_ns, max_ns;
	__u64 queue_ns, queue_max_ns; /* parts of these waits after the wake-up */
	/* of total_ns and queue_ns what stands for waits that were not chosen */
	__u64 estimated_ns, estimated_queue_ns;
	__u32 reserved2;
	__u32 claims; /* last: outlives what is before it, see slot_take() */
};

_Static_assert(sizeof(struct pkbpf_wait_row) == 128, "map value");

struct pkbpf_wait_row_key {
	__u64 stack_id, waker_id;
	__u32 pid, tid;
	/* pkbpf_comm_hash(): threads of one process with stacks that are the same, and a thread
	 * over time, may have several */
	__u32 comm;
	__u16 state, open;
};

struct pkbpf_wait_histogram {
	__u32 pid, state;
	__u64 max_ns;
	__u32 buckets[PKBPF_HISTOGRAM_BUCKETS];
	__u32 claims; /* last, as in a row */
};

_Static_assert(sizeof(struct pkbpf_wait_histogram) % 8 == 0, "map value");

struct pkbpf_wait_histogram_key {
	__u32 pid, state;
};

/* What the task iterator says of a thread that is blocked when the interval begins. */
struct pkbpf_blocked_thread {
	__u32 pid, tid;
	__u32 n_kernel;
	__u8 has_regs, after_syscall;
	__u8 is_probed; /* its struct pkbpf_probed_calls comes next */
	__u8 reserved;
	__u64 stack_id; /* its row waits for a PKBPF_EVENT_STACK of this number */
	__u64 regs[PKBPF_REGS];
	__u64 ips[PKBPF_MAX_KERNEL_FRAMES];
};

/* The kernel allows 64, its MAX_URETPROBE_DEPTH. */
#define PKBPF_MAX_PROBED_CALLS 64

/* What the kernel knows of the probes that a thread has met (bpf/uprobe.bpf.c). */
struct pkbpf_probed_calls {
	__u64 trampoline; /* where probed functions return to, the beginning of [uprobes] */
	/* the probed instruction met last is executed here, and belongs there */
	__u64 copy, instruction;
	__u32 count, reserved;
	struct {
		__u64 stack;		 /* where the return address was */
		__u64 address;		 /* and what it was */
	} calls[PKBPF_MAX_PROBED_CALLS]; /* the last one first */
};

#endif
