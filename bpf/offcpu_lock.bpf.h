/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sums of finished waits for locks. All functions of locks are static, and called where
 * offcpu_config.locks is set: without it the verifier sees none of them.
 */
#ifndef PKBPF_OFFCPU_LOCK_BPF_H
#define PKBPF_OFFCPU_LOCK_BPF_H

#include "offcpu_lock_tables.bpf.h"
#include "slot.bpf.h"

/* First array element never used, as far as the programs of one file know. */
static __u32 lock_next_part;

/* Notes for the trace which thread holds the lock that the thread in `slot` waits for. */
static __always_inline void cause_set_owner(__u32 slot, const struct pkbpf_lock_row *row)
{
	struct pkbpf_wait_cause *cause = bpf_map_lookup_elem(&offcpu_causes, &slot);

	if (cause)
		cause->owner = row->holder;
}

/* The account of locks of the thread in a slot; NULL: not begun. */
static __always_inline struct pkbpf_lock_thread *lock_thread_at(__u32 slot, __u32 tid)
{
	struct pkbpf_lock_thread *locks = bpf_map_lookup_elem(&lock_threads, &slot);

	return locks && locks->tid == tid ? locks : NULL;
}

/* Returns the number of the part of a key; creates it if it is the first, of the thread in `slot`.
 * PKBPF_NO_ROW: no room. */
static __always_inline __u32 lock_part_number(const struct pkbpf_lock_part_key *key, __u32 slot)
{
	__u32 *known = bpf_map_lookup_elem(&lock_part_index, key), index = 0;
	struct pkbpf_lock_part *part;
	struct pkbpf_thread *thread;

	if (known)
		return *known;
	if (!slot_take(&lock_parts, offsetof(struct pkbpf_lock_part, claims), &lock_next_part,
		       &lock_free_parts, &index))
		return PKBPF_NO_ROW;
	part = bpf_map_lookup_elem(&lock_parts, &index);
	if (!part)
		return PKBPF_NO_ROW;
	if (bpf_map_update_elem(&lock_part_index, key, &index, BPF_NOEXIST)) {
		/* Another CPU was faster. */
		bpf_map_push_elem(&lock_free_parts, &index, 0);
		known = bpf_map_lookup_elem(&lock_part_index, key);
		return known ? *known : PKBPF_NO_ROW;
	}
	part->key = *key;
	thread = key->tid ? thread_at(slot) : NULL;
	if (thread) {
		part->pid = thread->pid;
		__builtin_memcpy(part->comm, thread->comm, sizeof(part->comm));
	}
	part->used = 1; /* last: user space reads only parts in use */
	return index;
}

/* Adds to a part of a lock's waits. Returns 1 + its number; 0: no room. */
static __noinline int lock_part_add(struct pkbpf_lock_part_key *key, __u32 slot, __u64 ns)
{
	__u32 index = lock_part_number(key, slot);
	struct pkbpf_lock_part *part;

	if (index == PKBPF_NO_ROW) {
		counter_add(PKBPF_COUNTER_LOCK_PARTS_FULL, 1);
		return 0;
	}
	part = bpf_map_lookup_elem(&lock_parts, &index);
	if (!part)
		return 0;
	__sync_fetch_and_add(&part->count, 1);
	__sync_fetch_and_add(&part->ns, ns);
	return (int)index + 1;
}

/* The wait of this thread ended when it was woken. From then on until it ran, the lock was free, as
 * far as is known: that time is nobody's hold. */
static __noinline int lock_hand_over(__u32 slot, __u32 row, __u64 queue_ns)
{
	struct pkbpf_lock_thread *locks = bpf_map_lookup_elem(&lock_threads, &slot);
	struct pkbpf_lock_part_key key = {.row = row, .state = PKBPF_LOCK_HAND_OVER};
	struct pkbpf_lock_part *part;
	__u32 index;

	if (!locks || !locks->part)
		return 0;
	index = locks->part - 1;
	locks->part = 0;
	part = bpf_map_lookup_elem(&lock_parts, &index);
	if (queue_ns > locks->span_ns)
		queue_ns = locks->span_ns;
	queue_ns *= locks->waiters;
	if (!part || part->key.row != row || part->ns < queue_ns)
		return 0;
	__sync_fetch_and_add(&part->ns, -queue_ns);
	return lock_part_add(&key, slot, queue_ns);
}

/* Adds a finished wait of the thread in `slot` to its lock; ns includes queue_ns. `wanted` false:
 * the wait is too short to count. */
static __noinline int lock_count(__u32 slot, __u64 ns, __u64 queue_ns, bool wanted)
{
	struct pkbpf_lock_part_key key = {.kind = PKBPF_LOCK_SITE};
	struct pkbpf_thread *thread = thread_at(slot);
	struct pkbpf_lock_thread *locks;
	struct pkbpf_lock_row *row;
	__u32 bucket;

	locks = thread ? lock_thread_at(slot, thread->tid) : NULL;
	if (!locks || !locks->row)
		return 0;
	key.row = locks->row - 1;
	locks->row = 0;
	row = bpf_map_lookup_elem(&lock_rows, &key.row);
	if (!row || !wanted)
		return 0;
	__sync_fetch_and_add(&row->waits, 1);
	__sync_fetch_and_add(&row->wait_ns, ns);
	__sync_fetch_and_add(&row->queue_ns, queue_ns);
	/* Two CPUs may write at once; one value is then missing from max, and only there. */
	if (ns > row->max_ns)
		row->max_ns = ns;
	bucket = pkbpf_histogram_index(ns) >> PKBPF_LOCK_BUCKET_SHIFT;
	if (bucket < PKBPF_LOCK_BUCKETS)
		__sync_fetch_and_add(&row->buckets[bucket], 1);
	if (row->class == PKBPF_LOCK_SIGNAL)
		return 0;
	if (queue_ns)
		lock_hand_over(slot, key.row, queue_ns);
	key.stack_id = thread->weight ? thread->stack_id : 0;
	return lock_part_add(&key, slot, ns);
}

#endif
