/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples of the thread that ended a wait, and of the thread that ran on the CPU that another one
 * waited for. Waits are chosen by length. A wait of RELATION_NS or more is always sent. A shorter
 * one is sent with probability length / RELATION_NS, and then represents RELATION_NS. Sums are
 * therefore right on average, and a second of waiting costs at most 500 samples.
 */
#ifndef PKBPF_OFFCPU_RELATION_BPF_H
#define PKBPF_OFFCPU_RELATION_BPF_H

#include "offcpu.bpf.h"

#include <pkbpf/resource.h>

#define RELATION_NS (1ULL << 21)

/* Returns the time that a sample of this length represents; 0: not chosen. */
static __always_inline __u64 relation_value(__u64 length_ns, __u64 now_ns)
{
	if (length_ns >= RELATION_NS)
		return length_ns;
	/* The hashed clock is unpredictable. */
	return (now_ns * 0x9E3779B97F4A7C15ULL >> 32 & (RELATION_NS - 1)) < length_ns ? RELATION_NS
										      : 0;
}

/* Sends a sample. Without room it is dropped and not counted, because others represent it. */
static __always_inline void relation_send(__u32 relation, const struct pkbpf_thread *thread,
					  struct task_struct *other, __u64 other_stack_id,
					  __u64 value, __u64 now_ns)
{
	struct pkbpf_event_relation *event = bpf_ringbuf_reserve(&sample_ring, sizeof(*event), 0);

	if (!event)
		return;
	event->header.size = sizeof(*event);
	event->header.kind = PKBPF_EVENT_RELATION;
	event->header.flags = 0;
	event->header.time_ns = now_ns;
	event->relation = relation;
	event->pid = thread->pid;
	event->other_pid = BPF_CORE_READ(other, tgid);
	event->reserved = 0;
	event->stack_id = relation == PKBPF_RELATION_WAKER ? thread->stack_id : 0;
	event->other_stack_id = other_stack_id;
	event->count = 1;
	event->value = value;
	BPF_CORE_READ_INTO(&event->other_comm, other, comm);
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

/* `task` comes onto the CPU that `other` leaves. The sample's value is the time for which `other`
 * ran while `task` was in the run queue. */
static __always_inline void rival_sample(struct task_struct *other, struct task_struct *task,
					 const struct pkbpf_thread *thread, __u64 came_ns,
					 __u64 now_ns)
{
	__u64 queued = task->sched_info.last_queued, arrived = other->sched_info.last_arrival,
	      ran_ns = now_ns - came_ns, value;

	if (!other->pid || !came_ns || !queued)
		return;
	/* These times are from the clock of the run queue, which may run at a different speed. */
	if (queued > arrived) {
		if (queued - arrived >= ran_ns)
			return;
		ran_ns -= queued - arrived;
	}
	value = relation_value(ran_ns, now_ns);
	if (value)
		relation_send(PKBPF_RELATION_RIVAL, thread, other, 0, value, now_ns);
}

#endif
