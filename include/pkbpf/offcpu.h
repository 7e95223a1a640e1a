/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layouts shared by the off-CPU programs and their source: tables of threads, waits and wait times.
 * User space maps and reads them without system calls.
 *
 * One time stamp per context switch divides a thread's time. Hence on-CPU + run queue + sleep +
 * disk wait + uninterruptible + stopped is the thread's wall clock time, to the nanosecond.
 */
#ifndef PKBPF_OFFCPU_H
#define PKBPF_OFFCPU_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>
#include <pkbpf/histogram.h>
#include <pkbpf/stack_memo.h>

/* States of a thread: state of off-CPU samples and totals. Part of the recording format. */
enum pkbpf_wait_state {
	PKBPF_WAIT_NONE = 0,	 /* on a CPU; only in PKBPF_OFFCPU_TIME */
	PKBPF_WAIT_RUNQUEUE = 1, /* runnable: preempted, or woken and not yet on a CPU */
	PKBPF_WAIT_SLEEP = 2,	 /* interruptible */
	PKBPF_WAIT_DISK = 3,	 /* disk wait: uninterruptible, waiting for I/O */
	/* D state, not I/O: a lock in the kernel, a vfork child */
	PKBPF_WAIT_UNINTERRUPTIBLE = 4,
	PKBPF_WAIT_STOPPED = 5, /* by a signal, a debugger, or frozen */
	PKBPF_WAIT_STATES = 6,
};

/* measure of PKBPF_EVENT_TOTALS of kind OFFCPU. */
enum pkbpf_offcpu_measure {
	PKBPF_OFFCPU_WAITS = 0, /* waits of one stack: count and ns; waker_id with --wakers */
	/* a thread's account: number of entries into a state and ns in it, for all states and
	 * on-CPU */
	PKBPF_OFFCPU_TIME = 1,
	PKBPF_OFFCPU_LENGTHS = 2, /* a process's waits in a state: count and histogram */
	/* a thread's context switches: state 0 voluntary, 1 involuntary */
	PKBPF_OFFCPU_SWITCHES = 3,
	/* lifetime of a thread within the interval, which its account must add up to: count 1,
	 * ns */
	PKBPF_OFFCPU_WALL = 4,
};

/* A wait that ends in the run queue counts once: its run-queue part adds time, but no count. */

#define PKBPF_NO_ROW PKBPF_MEMO_NONE
_Static_assert(PKBPF_WAIT_STATES <= PKBPF_MEMO_ROWS, "each state of a stack has a row of its own");

enum pkbpf_thread_place {
	PKBPF_THREAD_FREE = 0,
	PKBPF_THREAD_ON_CPU = 1,
	PKBPF_THREAD_OFF_CPU = 2,
	PKBPF_THREAD_ENDED = 3, /* the account is complete; user space frees the slot */
};

enum {
	/* the wait in flight, or the last one, began before the interval */
	PKBPF_THREAD_OPEN = 1,
	/* the wait is long enough to be counted by itself instead of by sampling: see
	 * offcpu_edge */
	PKBPF_THREAD_VISITED = 2,
};

/* Flag of a row beside PKBPF_TOTALS_*: the row has one wait and will get no other. */
#define PKBPF_ROW_SINGLE 0x100

/* A thread with many waits in one of these windows gets stacks for only a part of its waits in the
 * next window. */
#define PKBPF_OFFCPU_WINDOW_SHIFT 27
#define PKBPF_OFFCPU_WINDOW_NS	  (1ULL << PKBPF_OFFCPU_WINDOW_SHIFT)
/* A sampling rate below one in 32 saves little: a wait costs 2 us with a stack and 0.4 us
 * without. */
#define PKBPF_OFFCPU_MAX_MASK 31
/* A wait of this length without a stack gets one when the task iterator visits it. */
#define PKBPF_OFFCPU_LONG_NS 10000000ULL

#define PKBPF_THREAD_PROBES    8
#define PKBPF_THREAD_TOMBSTONE 0xffffffffU

/* The CPU that switches the thread writes the slot; user space only reads it and frees slots of
 * exited threads. */
struct pkbpf_thread {
	/* Grouped by cache line: fields read at every switch, fields added to, and the rest. */
	__u32 tid; /* 0: never used, PKBPF_THREAD_TOMBSTONE: free again */
	__u32 pid;
	__u8 place; /* enum pkbpf_thread_place */
	__u8 state; /* enum pkbpf_wait_state of the wait in flight, or of the last one */
	__u8 flags;
	__u8 reserved;
	__u32 row;	    /* of that wait, PKBPF_NO_ROW: none */
	__u32 weight;	    /* number of waits that this wait represents; 0: not chosen */
	__u16 sample_mask;  /* one wait in sample_mask + 1 is chosen in this window */
	__u16 rare_waits;   /* waits in this window chosen because their place has had few */
	__u32 window;	    /* number of the current time window */
	__u32 window_waits; /* waits counted in this window */
	__u64 since_ns;	    /* start of the stay in its place */
	/* the kernel's sum of the thread's run-queue time at the start of the wait */
	__u64 run_delay_ns;
	__u64 pending_ns; /* length of a wait that ended but is not yet split into its parts */
	__u64 ran_ns;	  /* the kernel's sum of the thread's CPU time at its last switch */

	__u64 time_ns[PKBPF_WAIT_STATES];
	__u64 voluntary, involuntary;

	__u64 count[PKBPF_WAIT_STATES];
	__u64 without_stack; /* number of waits not chosen */
	/* Time to take the stack of a wait that represents others. The time is part of the wait. */
	__u32 taking_ns;
	__u32 peer; /* whose message ended the last wait: number of a PEER record; 0: unknown */

	__u64 stack_id; /* stack of the wait, when the wait found no row */
	__u64 waker_id;
	__u64 first_ns; /* start of the account */
	__u64 born_ns;	/* start time of the thread */
	__u64 cgroup_id;
	char comm[PKBPF_COMM_SIZE];
	/* In this moment (bpf/shared.bpf.h) the thread's process has no Python interpreter. */
	__u64 plain_moment;
};

_Static_assert(sizeof(struct pkbpf_thread) == 256, "map value");

/*
 * The slot of a search for a thread after `probe` other slots, in a table of mask + 1 slots. tids
 * are sequential. Hashed by their lower bits, the threads of a pool would fill a solid run of
 * slots, and another thread with a tid in that range would find no room. The upper bits of the
 * product spread a sequence evenly over the table.
 */
static inline __u32 pkbpf_thread_slot(__u32 tid, __u32 probe, __u32 mask)
{
	__u32 spread = tid * 0x9E3779B1U;

	return ((__u32)(spread * (mask + 1ULL) >> 32) + probe) & mask;
}

/* Waits of one stack in one state; all CPUs add to it. */
struct pkbpf_wait_row {
	__u64 stack_id, waker_id;
	__u32 pid, tid; /* tid 0: all threads of the process */
	__u32 state;
	__u32 histogram;       /* of this state, PKBPF_NO_ROW: none */
	__u32 queue_histogram; /* of the run queue */
	__u32 flags;	       /* PKBPF_TOTALS_* */
	__u64 cgroup_id;
	char comm[PKBPF_COMM_SIZE];
	__u64 count, total_ns, max_ns;
	__u64 queue_ns, queue_max_ns; /* run-queue parts of these waits, after the wake-up */
	/* parts of total_ns and queue_ns that represent waits that were not chosen */
	__u64 estimated_ns, estimated_queue_ns;
	__u32 peer; /* as in pkbpf_thread */
	/* must be last: it keeps its value when the fields before it are cleared, see
	 * slot_take() */
	__u32 claims;
};

_Static_assert(sizeof(struct pkbpf_wait_row) == 128, "map value");

struct pkbpf_wait_row_key {
	__u64 stack_id, waker_id;
	__u32 pid, tid;
	/* pkbpf_comm_hash(): threads of one process with equal stacks may have different comms, and
	 * a thread may change its comm */
	__u32 comm;
	__u16 state, open;
};

/* waker_id in the key of a row: the peer is part of it. */
static inline __u64 pkbpf_wait_row_cause(__u64 waker_id, __u32 peer)
{
	return waker_id ^ peer * 0x9E3779B97F4A7C15ULL;
}

struct pkbpf_wait_histogram {
	__u32 pid, state;
	__u64 max_ns;
	__u32 buckets[PKBPF_HISTOGRAM_BUCKETS];
	__u32 claims; /* must be last, as in a row */
};

_Static_assert(sizeof(struct pkbpf_wait_histogram) % 8 == 0, "map value");

struct pkbpf_wait_histogram_key {
	__u32 pid, state;
};

/* Record of the task iterator about a thread that is blocked when the interval begins. */
struct pkbpf_blocked_thread {
	__u32 pid, tid;
	__u32 n_kernel;
	__u8 has_regs, after_syscall;
	__u8 is_probed; /* its struct pkbpf_probed_calls follows */
	__u8 reserved;
	__u64 stack_id; /* id of the PKBPF_EVENT_STACK that its row still needs */
	__u64 regs[PKBPF_REGS];
	__u64 ips[PKBPF_MAX_KERNEL_FRAMES];
};

/* The kernel allows 64, its MAX_URETPROBE_DEPTH. */
#define PKBPF_MAX_PROBED_CALLS 64

/* Uprobe state that the kernel keeps for a thread (bpf/uprobe.bpf.c). */
struct pkbpf_probed_calls {
	__u64 trampoline; /* address that probed functions return to: the start of [uprobes] */
	/* copy: where the instruction of the last probe is executed; instruction: its address in
	 * the program */
	__u64 copy, instruction;
	__u32 count, reserved;
	struct {
		__u64 stack;		 /* address on the stack that held the return address */
		__u64 address;		 /* the original return address */
	} calls[PKBPF_MAX_PROBED_CALLS]; /* newest first */
};

#endif
