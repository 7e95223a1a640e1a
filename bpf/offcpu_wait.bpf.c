// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Adds waits that are over to their rows. */
#include "offcpu_wait.bpf.h"

/* A wait for which there is no row goes to user space by itself. */
static __always_inline void send_wait(const struct pkbpf_thread *thread, __u32 state, __u32 count, __u64 total_ns,
				      __u64 max_ns)
{
	struct pkbpf_event_totals *totals = bpf_ringbuf_reserve(&sample_ring, sizeof(*totals), 0);

	if (!totals) {
		counter_add(PKBPF_COUNTER_LOST_RING_FULL, 1);
		return;
	}
	__builtin_memset(totals, 0, sizeof(*totals));
	totals->header.size = sizeof(*totals);
	totals->header.kind = PKBPF_EVENT_TOTALS;
	totals->header.flags = (thread->weight > 1 ? PKBPF_TOTALS_ESTIMATED : 0) |
			       (thread->flags & PKBPF_THREAD_OPEN ? PKBPF_TOTALS_OPEN : 0);
	totals->header.time_ns = bpf_ktime_get_ns();
	totals->stack_id = thread->stack_id;
	totals->pid = thread->pid;
	totals->tid = offcpu_config.per_thread ? thread->tid : 0;
	totals->cgroup_id = thread->cgroup_id;
	totals->profile_kind = PKBPF_PROFILE_OFFCPU;
	totals->state = state;
	totals->count = count;
	totals->total = total_ns;
	totals->max = max_ns;
	totals->bytes = thread->waker_id;
	__builtin_memcpy(totals->comm, thread->comm, sizeof(totals->comm));
	bpf_ringbuf_submit(totals, BPF_RB_NO_WAKEUP);
}

/* Adds a finished wait to its stack's row. */
static __always_inline void row_add(__u32 slot, struct pkbpf_thread *thread, __u64 wait_ns, __u64 queue_ns)
{
	__u32 weight = thread->weight, index = thread->row;
	struct pkbpf_wait_row *row;

	if (!weight)
		return;
	if (offcpu_config.wakers || index == PKBPF_NO_ROW)
		index = thread->stack_id ? row_number(slot, thread->stack_id, thread->waker_id, thread->state,
						      thread->flags & PKBPF_THREAD_OPEN) : PKBPF_NO_ROW;
	row = bpf_map_lookup_elem(&offcpu_rows, &index);
	if (!row) {
		send_wait(thread, thread->state, weight, wait_ns * weight, wait_ns);
		if (queue_ns && thread->state != PKBPF_WAIT_RUNQUEUE)
			send_wait(thread, PKBPF_WAIT_RUNQUEUE, 0, queue_ns * weight, queue_ns);
		return;
	}
	__sync_fetch_and_add(&row->count, weight);
	__sync_fetch_and_add(&row->total_ns, wait_ns * weight);
	if (wait_ns > row->max_ns)
		row->max_ns = wait_ns;
	histogram_count(row->histogram, wait_ns, weight);
	if (weight > 1)
		row->flags |= PKBPF_TOTALS_ESTIMATED;
	if (!queue_ns || thread->state == PKBPF_WAIT_RUNQUEUE)
		return;
	__sync_fetch_and_add(&row->queue_ns, queue_ns * weight);
	if (queue_ns > row->queue_max_ns)
		row->queue_max_ns = queue_ns;
	histogram_count(row->queue_histogram, queue_ns, weight);
}

__attribute__((noinline)) int wait_finish(__u32 slot, __u64 run_delay_ns)
{
	struct pkbpf_thread *thread = thread_at(slot);
	__u64 wait_ns, queue_ns = 0;
	__u32 state;

	if (!thread || !thread->pending_ns)
		return 0;
	wait_ns = thread->pending_ns;
	state = thread->state;
	thread->pending_ns = 0;
	if (state != PKBPF_WAIT_RUNQUEUE && state < PKBPF_WAIT_STATES) {
		queue_ns = run_delay_ns - thread->run_delay_ns;
		if (queue_ns > wait_ns)
			queue_ns = wait_ns;
		wait_ns -= queue_ns;
		if (queue_ns) {
			thread->time_ns[PKBPF_WAIT_RUNQUEUE] += queue_ns;
			thread->count[PKBPF_WAIT_RUNQUEUE]++;
		}
	}
	if (state < PKBPF_WAIT_STATES) {
		thread->time_ns[state] += wait_ns;
		thread->count[state]++;
	}
	if (wait_ns + queue_ns >= offcpu_config.min_block_ns)
		row_add(slot, thread, wait_ns, queue_ns);
	thread->flags &= ~PKBPF_THREAD_OPEN;
	return 0;
}
