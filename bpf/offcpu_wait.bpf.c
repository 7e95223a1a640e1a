// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rare cases of finished waits. */
#include "offcpu_wait.bpf.h"

/* `count` 0: the other part of the wait is counted. Returns false if there is no room. */
static __always_inline bool part_send(struct pkbpf_thread *thread, __u32 state, __u32 count,
				      __u64 max_ns)
{
	struct pkbpf_event_totals *totals = bpf_ringbuf_reserve(&sample_ring, sizeof(*totals), 0);

	if (!totals)
		return false;
	__builtin_memset(totals, 0, sizeof(*totals));
	totals->header.size = sizeof(*totals);
	totals->header.kind = PKBPF_EVENT_TOTALS;
	totals->header.flags = (thread->weight > 1 ? PKBPF_TOTALS_ESTIMATED : 0) |
			       (thread->flags & PKBPF_THREAD_OPEN ? PKBPF_TOTALS_OPEN : 0);
	totals->header.time_ns = bpf_ktime_get_ns();
	totals->stack_id = thread->stack_id;
	totals->waker_id = thread->waker_id;
	totals->pid = thread->pid;
	totals->tid = offcpu_config.per_thread ? thread->tid : 0;
	totals->cgroup_id = thread->cgroup_id;
	totals->device = thread->peer;
	totals->profile_kind = PKBPF_PROFILE_OFFCPU;
	totals->state = state;
	totals->count = count;
	totals->total = max_ns * thread->weight;
	totals->max = max_ns;
	__builtin_memcpy(totals->comm, thread->comm, sizeof(totals->comm));
	bpf_ringbuf_submit(totals, BPF_RB_NO_WAKEUP);
	return true;
}

__attribute__((noinline)) int wait_send(__u32 slot, __u64 wait_ns, __u64 queue_ns)
{
	struct pkbpf_thread *thread = thread_at(slot);
	bool sent;

	if (!thread)
		return 0;
	sent = part_send(thread, thread->state, thread->weight, wait_ns);
	if (queue_ns && thread->state != PKBPF_WAIT_RUNQUEUE)
		sent &= part_send(thread, PKBPF_WAIT_RUNQUEUE, 0, queue_ns);
	if (!sent)
		counter_add(PKBPF_COUNTER_OFFCPU_RING_FULL, thread->weight);
	return 0;
}

__attribute__((noinline)) int wait_trace(__u32 slot, __u64 wait_ns, __u64 queue_ns)
{
	struct pkbpf_wait_cause *cause = bpf_map_lookup_elem(&offcpu_causes, &slot);
	struct pkbpf_thread *thread = thread_at(slot);
	struct pkbpf_event_wait *wait;

	if (!thread)
		return 0;
	wait = bpf_ringbuf_reserve(&sample_ring, sizeof(*wait), 0);
	if (!wait) {
		counter_add(PKBPF_COUNTER_TRACE_RING_FULL, 1);
		return 0;
	}
	__builtin_memset(wait, 0, sizeof(*wait));
	wait->header.size = sizeof(*wait);
	wait->header.kind = PKBPF_EVENT_WAIT;
	wait->header.time_ns = bpf_ktime_get_ns();
	wait->stack_id = thread->weight ? thread->stack_id : 0;
	/* The thread has been on its CPU since the end of the wait. */
	wait->begin_ns = thread->since_ns - wait_ns - queue_ns;
	wait->wait_ns = wait_ns;
	wait->queue_ns = queue_ns;
	/* It lacks the time since the end of the wait. */
	wait->ran_ns = thread->time_ns[PKBPF_WAIT_NONE];
	if (cause)
		wait->cause = *cause;
	wait->cause.place = 0;
	wait->pid = thread->pid;
	wait->tid = thread->tid;
	wait->state = thread->state;
	__builtin_memcpy(wait->comm, thread->comm, sizeof(wait->comm));
	bpf_ringbuf_submit(wait, BPF_RB_NO_WAKEUP);
	return 0;
}

__attribute__((noinline)) int wait_finish(__u32 slot, __u64 run_delay_ns)
{
	struct pkbpf_thread *thread = thread_at(slot);

	if (thread)
		wait_split(thread, slot, run_delay_ns);
	return 0;
}
