/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows locks through context switches. A wait that begins names the owner in the lock's words; a
 * wait that ends, unless by its time-out, makes its thread the holder while others still wait.
 * Between two of these, and between two switches of the holder, holder, place and number of waiters
 * are constant: waiters times time is the time that this place has blocked.
 *
 * Two CPUs may change one row at once. Then a gap between two events belongs to the other's holder.
 */
#ifndef PKBPF_OFFCPU_LOCK_END_BPF_H
#define PKBPF_OFFCPU_LOCK_END_BPF_H

#include "offcpu_lock.bpf.h"

/* More are a race of two CPUs that made it negative. */
#define WAITERS_MAX (1U << 22)
/* A thread that times out runs so soon after, and a bit before by another clock. */
#define TIMED_OUT_NS (PKBPF_LOCK_CLOCK_ERROR_NS + 200000U)

/* Adds the time since the last event of a lock to its holder and the place of it. Returns 1 + the
 * number of that part; 0: none. */
static __noinline int lock_account(__u32 index, __u64 now_ns)
{
	struct pkbpf_lock_row *row = bpf_map_lookup_elem(&lock_rows, &index);
	struct pkbpf_lock_part_key key = {.row = index, .state = PKBPF_LOCK_UNKNOWN};
	struct pkbpf_lock_thread *locks;
	struct pkbpf_thread *thread;
	__u64 since_ns, waiters;
	__u32 slot;

	if (!row)
		return 0;
	since_ns = row->since_ns;
	waiters = row->waiters;
	row->since_ns = now_ns;
	if (!waiters || waiters > WAITERS_MAX || now_ns <= since_ns)
		return 0;
	slot = row->holder_slot;
	thread = row->holder ? thread_at(slot) : NULL;
	if (thread && thread->tid == row->holder) {
		locks = lock_thread_at(slot, thread->tid);
		key.tid = thread->tid;
		key.state = thread->state < PKBPF_WAIT_STATES ? thread->state : PKBPF_WAIT_SLEEP;
		if (thread->place == PKBPF_THREAD_ON_CPU) {
			key.state = PKBPF_WAIT_NONE;
		} else if (locks && key.state == PKBPF_WAIT_RUNQUEUE &&
			   pkbpf_lock_is_inverted(row->priority, locks->priority)) {
			key.state = PKBPF_LOCK_INVERTED;
			if (thread->weight)
				key.stack_id = thread->stack_id;
		} else if (locks && locks->waits && locks->row == index + 1) {
			key.tid = 0;
			key.state = PKBPF_LOCK_HAND_OVER;
		} else if (thread->weight) {
			key.stack_id = thread->stack_id;
		}
	} else if (row->hand_over) {
		key.state = PKBPF_LOCK_HAND_OVER;
	}
	return lock_part_add(&key, slot, (now_ns - since_ns) * waiters);
}

/* Notes that a thread holds a lock for which others wait. */
static __always_inline void lock_hold(struct pkbpf_lock_thread *locks, __u32 mark)
{
	__u32 at = mark % PKBPF_LOCKS_HELD;

	for (int i = PKBPF_LOCKS_HELD - 1; i >= 0; i--) {
		if (locks->held[i] == mark)
			return;
		if (!locks->held[i])
			at = i;
	}
	locks->held[at % PKBPF_LOCKS_HELD] = mark;
}

/* The thread in `slot` no longer waits: it runs, or the interval ends. */
static __noinline int lock_end(__u32 slot, __u64 now_ns)
{
	struct pkbpf_lock_thread *locks = bpf_map_lookup_elem(&lock_threads, &slot);
	struct pkbpf_lock_row *row;
	__u32 index, waiters;

	if (!locks || !locks->waits)
		return 0;
	index = locks->row - 1;
	row = bpf_map_lookup_elem(&lock_rows, &index);
	if (!row) {
		locks->waits = 0;
		return 0;
	}
	waiters = row->waiters;
	locks->waiters = waiters;
	locks->span_ns = now_ns > row->since_ns ? now_ns - row->since_ns : 0;
	locks->part = lock_account(index, now_ns);
	locks->waits = 0;
	/* Of the others the highest is not known: that understates inversions. */
	if (locks->priority <= row->priority)
		row->priority = 0;
	if (waiters)
		__sync_fetch_and_add(&row->waiters, -1);
	/* After a time-out the holder is the same. A thread that runs long after it may have been
	 * woken before: it holds the lock, or does not. */
	if (waiters > 1 && now_ns >= locks->expiry_ns && now_ns - locks->expiry_ns < TIMED_OUT_NS)
		return 0;
	row->hand_over = 0;
	row->holder = 0;
	if (waiters <= 1 || now_ns >= locks->expiry_ns)
		return 0;
	row->holder_slot = slot;
	row->holder = locks->tid;
	lock_hold(locks, index + 1);
	return 0;
}

#endif
