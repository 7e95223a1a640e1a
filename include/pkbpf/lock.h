/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Locks of programs, read from the words at the address of a futex at the context switch that
 * begins the wait. Layouts: glibc's struct __pthread_mutex_s and __pthread_rwlock_arch_t, musl's
 * pthread_impl.h. Words are data of the target: an owner is a candidate until a thread of the
 * process has that number.
 */
#ifndef PKBPF_LOCK_H
#define PKBPF_LOCK_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>
#include <pkbpf/histogram.h>

/* Part of the recording format. */
enum pkbpf_lock_class {
	PKBPF_LOCK_NONE = 0,
	PKBPF_LOCK_MUTEX = 1,
	PKBPF_LOCK_RECURSIVE = 2,
	PKBPF_LOCK_ERRORCHECK = 3,
	PKBPF_LOCK_ADAPTIVE = 4,
	PKBPF_LOCK_ROBUST = 5,
	PKBPF_LOCK_PI = 6,
	PKBPF_LOCK_RWLOCK = 7,
	PKBPF_LOCK_MUSL = 8, /* a mutex of musl with its owner, or a FILE */
	PKBPF_LOCK_WORD = 9, /* a futex that names no owner: Rust, musl's default mutex, malloc */
	/* no lock, one row for a process: condition variables, semaphores, parked threads */
	PKBPF_LOCK_SIGNAL = 10,
	PKBPF_LOCK_OTHERS = 11, /* locks of a process without a row of their own */
	/* of the kernel: see pkbpf/kernel_lock.h */
	PKBPF_LOCK_KERNEL_MUTEX = 12,
	PKBPF_LOCK_KERNEL_RWSEM = 13,
	PKBPF_LOCK_KERNEL_SPIN = 14,
	PKBPF_LOCK_KERNEL_RWLOCK = 15,
	PKBPF_LOCK_KERNEL_PERCPU = 16,
	PKBPF_LOCK_KERNEL_RT = 17,
	PKBPF_LOCK_CLASSES = 18,
};

#define PKBPF_FUTEX_COMMAND	    127U
#define PKBPF_FUTEX_PRIVATE	    128U
#define PKBPF_FUTEX_REALTIME	    256U
#define PKBPF_FUTEX_WAIT	    0U
#define PKBPF_FUTEX_LOCK_PI	    6U
#define PKBPF_FUTEX_WAIT_BITSET	    9U
#define PKBPF_FUTEX_WAIT_REQUEUE_PI 11U
#define PKBPF_FUTEX_LOCK_PI2	    13U
/* Of a futex word with its owner: waiters, owner died; musl's FILE has waiters in the second. */
#define PKBPF_FUTEX_WAITERS 0x80000000U
#define PKBPF_FUTEX_DIED    0x40000000U
#define PKBPF_FUTEX_TID	    0x3fffffffU
/* A lock of musl without an owner: EBUSY and waiters. */
#define PKBPF_MUSL_TAKEN 0x80000010U
/* A semaphore of musl for which threads wait. */
#define PKBPF_MUSL_SEMAPHORE 0x80000000U

#define PKBPF_LOCK_WORDS 8 /* 32 bytes: all owners lie in them */
/* Bits of __kind of a mutex of glibc. */
#define PKBPF_MUTEX_KINDS      0x3ffU
#define PKBPF_MUTEX_ROBUST     16U
#define PKBPF_MUTEX_PI	       32U
#define PKBPF_MUTEX_USERS_MAX  4096U
#define PKBPF_RWLOCK_PHASE_MAX 3U

struct pkbpf_lock_view {
	__u64 address; /* start of the lock; 0: of SIGNAL, which has no row of its own */
	__u32 class;   /* enum pkbpf_lock_class; NONE: no lock */
	__u32 owner;   /* tid as the process sees it; 0: the words name none now */
};

static inline __attribute__((always_inline)) int pkbpf_lock_is_mutex(const __u32 *words,
								     __u32 command)
{
	/* __owner, __nusers, __kind. A timed wait for a rwlock looks like a mutex without owner. */
	return !(words[4] & ~PKBPF_MUTEX_KINDS) &&
	       !(words[4] & (PKBPF_MUTEX_ROBUST | PKBPF_MUTEX_PI)) && words[3] &&
	       words[3] <= PKBPF_MUTEX_USERS_MAX && (words[2] || command == PKBPF_FUTEX_WAIT);
}

/* Waits at __wrphase_futex (+8 of the lock) and __writers_futex (+12); the lock is aligned to 8.
 * Returns the offset; 0: no rwlock. */
static inline __attribute__((always_inline)) __u32 pkbpf_lock_rwlock_offset(__u64 address,
									    const __u32 *words)
{
	if (address & 4)
		return !words[1] && !words[2] && words[4] <= 1 ? 12 : 0;
	return words[1] <= PKBPF_RWLOCK_PHASE_MAX && !words[2] && !words[3] && words[5] <= 1 ? 8
											     : 0;
}

/* A word with the number of its owner, or one that only has the same upper bits: rwlocks of musl
 * (a multiple of 8) and of Rust (both bits) have a number of readers there. */
static inline __attribute__((always_inline)) void
pkbpf_lock_read_owned(__u64 address, __u32 value, const __u32 *words,
		      struct pkbpf_lock_view *ret_view)
{
	__u32 marks = value & (PKBPF_FUTEX_WAITERS | PKBPF_FUTEX_DIED);

	if (!(address & 7) && !(words[4] & ~PKBPF_MUTEX_KINDS) && words[4] & PKBPF_MUTEX_ROBUST) {
		ret_view->class = PKBPF_LOCK_ROBUST;
		ret_view->owner = words[0] & PKBPF_FUTEX_TID;
	} else if (value == PKBPF_MUSL_SEMAPHORE) {
		ret_view->class = PKBPF_LOCK_SIGNAL;
		ret_view->address = 0;
	} else if (address & 4 && value != PKBPF_MUSL_TAKEN &&
		   marks != (PKBPF_FUTEX_WAITERS | PKBPF_FUTEX_DIED)) {
		ret_view->class = PKBPF_LOCK_MUSL;
		ret_view->owner = words[0] & PKBPF_FUTEX_TID;
	}
}

/* Reads a wait in futex(address, operation, value) from the words at its address. */
static inline __attribute__((always_inline)) void pkbpf_lock_read(__u64 address, __u32 operation,
								  __u32 value, const __u32 *words,
								  struct pkbpf_lock_view *ret_view)
{
	__u32 command = operation & PKBPF_FUTEX_COMMAND, offset;

	ret_view->address = address;
	ret_view->owner = 0;
	ret_view->class = PKBPF_LOCK_WORD;
	if (command == PKBPF_FUTEX_LOCK_PI || command == PKBPF_FUTEX_LOCK_PI2) {
		ret_view->class = PKBPF_LOCK_PI;
		ret_view->owner = words[0] & PKBPF_FUTEX_TID;
		return;
	}
	if (command != PKBPF_FUTEX_WAIT && command != PKBPF_FUTEX_WAIT_BITSET &&
	    command != PKBPF_FUTEX_WAIT_REQUEUE_PI) {
		ret_view->class = PKBPF_LOCK_NONE;
		return;
	}
	if (!value || command == PKBPF_FUTEX_WAIT_REQUEUE_PI) {
		ret_view->class = PKBPF_LOCK_SIGNAL;
		ret_view->address = 0;
		return;
	}
	if (value & (PKBPF_FUTEX_WAITERS | PKBPF_FUTEX_DIED)) {
		pkbpf_lock_read_owned(address, value, words, ret_view);
		return;
	}
	/* pthread_join(): the word is the number of the thread that has not ended. */
	if (command == PKBPF_FUTEX_WAIT_BITSET && !(operation & PKBPF_FUTEX_PRIVATE) &&
	    value > PKBPF_RWLOCK_PHASE_MAX) {
		ret_view->class = PKBPF_LOCK_NONE;
		return;
	}
	if (value == 2 && !(address & 7) && pkbpf_lock_is_mutex(words, command)) {
		ret_view->class = PKBPF_LOCK_MUTEX + (words[4] & 3);
		ret_view->owner = words[2];
		return;
	}
	/* glibc waits by the real-time clock, without a time-out too; Rust does not. */
	offset = command == PKBPF_FUTEX_WAIT_BITSET && operation & PKBPF_FUTEX_REALTIME &&
				 value <= PKBPF_RWLOCK_PHASE_MAX
			 ? pkbpf_lock_rwlock_offset(address, words)
			 : 0;
	if (offset) {
		ret_view->class = PKBPF_LOCK_RWLOCK;
		ret_view->owner = offset == 8 ? words[4] : words[3];
		ret_view->address = address - offset;
	} else if (command == PKBPF_FUTEX_WAIT_BITSET && !(operation & PKBPF_FUTEX_PRIVATE)) {
		/* The same with a small number, as in a container. */
		ret_view->class = PKBPF_LOCK_NONE;
	}
}

/* Wall clocks are read one after the other. */
#define PKBPF_LOCK_CLOCK_ERROR_NS 50000U

/* When the wait in futex(operation, timeout) that begins at now_ns times out, by CLOCK_MONOTONIC.
 * wall_ns: how far CLOCK_REALTIME is ahead. Of a time namespace with a clock of its own it is
 * another time. */
static inline __attribute__((always_inline)) __u64
pkbpf_lock_expiry(__u32 operation, __u64 seconds, __u64 nanoseconds, __u64 now_ns, __u64 wall_ns)
{
	__u32 command = operation & PKBPF_FUTEX_COMMAND;
	__u64 time_ns = seconds * 1000000000ULL + nanoseconds;

	if (seconds > 9000000000ULL || nanoseconds >= 1000000000ULL)
		return ~0ULL;
	if (command == PKBPF_FUTEX_WAIT)
		return now_ns + time_ns;
	if (command != PKBPF_FUTEX_LOCK_PI && !(operation & PKBPF_FUTEX_REALTIME))
		return time_ns;
	return time_ns > wall_ns + PKBPF_LOCK_CLOCK_ERROR_NS
		       ? time_ns - wall_ns - PKBPF_LOCK_CLOCK_ERROR_NS
		       : 0;
}

/* ---- tables of the programs ---- */

/* Quarters of a power of two: the middle of a bucket is within 1/8 of its values. */
#define PKBPF_LOCK_BUCKET_SHIFT 2
#define PKBPF_LOCK_BUCKETS	(PKBPF_HISTOGRAM_BUCKETS >> PKBPF_LOCK_BUCKET_SHIFT)
#define PKBPF_LOCK_ROWS		4096
#define PKBPF_LOCK_PARTS	16384
/* Locks that one thread holds while others wait for them, followed at once. */
#define PKBPF_LOCKS_HELD 4

/* What the holder does; states below are those of enum pkbpf_wait_state. Part of the recording
 * format. */
#define PKBPF_LOCK_HAND_OVER 6 /* the next holder has been named and has not run yet */
#define PKBPF_LOCK_UNKNOWN   7 /* no holder is known */
/* it waits for a CPU, and a thread that waits for the lock has a higher priority */
#define PKBPF_LOCK_INVERTED 8
#define PKBPF_LOCK_STATES   9

/* Is it an inversion when a thread of this priority (1 + that of the kernel, least is highest; a
 * realtime thread has at most 100) has to wait while the holder waits for a CPU? Between others, 5
 * levels of niceness are a third of the CPU time. */
static inline __attribute__((always_inline)) int pkbpf_lock_is_inverted(__u32 waiter, __u32 holder)
{
	if (!waiter || !holder)
		return 0;
	return waiter <= 100 ? holder > waiter : holder >= waiter + 5;
}

struct pkbpf_lock_key {
	__u64 address;
	__u32 pid;
	__u32 class; /* 0 but for SIGNAL and OTHERS, which have no address */
};

struct pkbpf_lock_row {
	__u64 address;
	__u32 pid; /* 0: not in use */
	__u32 class;
	__u32 waiters; /* now */
	__u32 max_waiters;
	__u32 holder;	   /* tid; 0: not known */
	__u32 holder_slot; /* of its account */
	__u32 hand_over;   /* the words named no owner, or one that has not run */
	__u32 priority;	   /* highest of those that wait, see pkbpf_lock_is_inverted() */
	__u64 since_ns;	   /* waiters and holder are as they are */
	__u64 waits, wait_ns, queue_ns, max_ns;
	__u32 buckets[PKBPF_LOCK_BUCKETS];
	__u32 reserved2;
	__u32 claims; /* last, as in a row of waits */
};

_Static_assert(sizeof(struct pkbpf_lock_row) % 8 == 0, "map value");

enum pkbpf_lock_part_kind {
	PKBPF_LOCK_HOLDER = 0, /* time for which others waited while this thread held the lock */
	PKBPF_LOCK_SITE = 1,   /* waits by stack */
};

struct pkbpf_lock_part_key {
	__u64 stack_id; /* 0: none, or not taken */
	__u32 row;
	__u32 tid; /* of the holder; 0: of a site, or unknown */
	__u32 kind;
	__u32 state;
};

struct pkbpf_lock_part {
	struct pkbpf_lock_part_key key;
	__u32 used; /* 0: not in use */
	__u32 pid;  /* of the thread */
	__u64 count, ns;
	char comm[PKBPF_COMM_SIZE];
	__u32 reserved;
	__u32 claims;
};

/* Beside the account of a thread (struct pkbpf_thread), in the same slot. */
struct pkbpf_lock_thread {
	__u32 tid;   /* the account is of another thread: not begun */
	__u32 row;   /* 1 + row of the lock of its last wait; 0: none, or counted */
	__u32 waits; /* it has not run since */
	/* of the last event before its wait ended: the part that has its time (1 + number; 0: none)
	 * and the number of waiters */
	__u32 part, waiters;
	__u32 priority;	 /* 1 + that of the kernel, with what it has inherited */
	__u64 span_ns;	 /* length of that time */
	__u64 expiry_ns; /* its wait times out */
	__u64 space;	 /* its pid namespace; 0: the first one */
	__u32 number;	 /* of the thread in it */
	__u32 reserved;
	__u32 held[PKBPF_LOCKS_HELD]; /* 1 + row */
};

/* Number of a thread inside its pid namespace. */
struct pkbpf_lock_tid {
	__u64 space; /* address of the namespace */
	__u32 tid;
	__u32 reserved;
};

/* ---- records ---- */

enum {
	PKBPF_EVENT_LOCK = 16,	    /* struct pkbpf_event_lock */
	PKBPF_EVENT_LOCK_PART = 17, /* struct pkbpf_event_lock_part */
	PKBPF_EVENT_DEADLOCK = 18,  /* struct pkbpf_event_deadlock */
};

#define PKBPF_LOCK_NAME_SIZE 128

/* Waits at one lock since the record before. */
struct pkbpf_event_lock {
	struct pkbpf_event_header header;
	__u64 address;
	__u32 pid;
	__u32 class; /* enum pkbpf_lock_class */
	__u32 max_waiters;
	__u32 n_buckets;
	__u64 waits, wait_ns, queue_ns, max_ns;
	char name[PKBPF_LOCK_NAME_SIZE]; /* symbol or mapping; "": not known */
	struct pkbpf_histogram_bucket buckets[];
};

/* A part of these waits: of a holder, or of a stack that waited. */
struct pkbpf_event_lock_part {
	struct pkbpf_event_header header;
	__u64 address; /* of the lock, with its process and class */
	__u32 lock_pid;
	__u32 class;
	__u64 stack_id; /* 0: none */
	__u32 pid, tid;
	__u32 kind;  /* enum pkbpf_lock_part_kind */
	__u32 state; /* below PKBPF_LOCK_STATES */
	__u64 count, ns;
	char comm[PKBPF_COMM_SIZE];
};

/* A thread of a cycle in which each waits for a lock that the next one holds; `count` records. */
struct pkbpf_event_deadlock {
	struct pkbpf_event_header header;
	__u64 address;	/* of the lock */
	__u64 stack_id; /* of its wait; 0: none */
	__u64 wait_ns;	/* so far */
	__u32 pid, tid;
	__u32 cycle; /* tid of the first thread */
	__u32 index, count;
	__u32 behind; /* threads outside of the cycle that wait for it */
	__u32 class;  /* enum pkbpf_lock_class */
	__u32 reserved;
	char comm[PKBPF_COMM_SIZE];
};

_Static_assert(sizeof(struct pkbpf_event_deadlock) == 16 + 24 + 32 + PKBPF_COMM_SIZE, "wire size");

#endif
