/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Classifies waits and adds finished waits to their rows. */
#ifndef PKBPF_OFFCPU_WAIT_BPF_H
#define PKBPF_OFFCPU_WAIT_BPF_H

#include "offcpu.bpf.h"
#include "offcpu_lock.bpf.h"

#define TASK_INTERRUPTIBLE   0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED_TRACED  (0x0004 | 0x0008)
#define EXIT_DEAD_ZOMBIE     (0x0010 | 0x0020)
#define TASK_DEAD	     0x0080
#define TASK_NOLOAD	     0x0400
/* PREEMPT_RT: waits for what is a spinlock on other kernels */
#define TASK_RTLOCK_WAIT 0x1000
#define PF_FROZEN	 0x00010000 /* until 6.1 */

/*
 * Returns whether the freezer of its cgroup holds the task. In cgroup version 2 a frozen task
 * sleeps like one that waits for an event. In version 1 before 6.1 it sleeps uninterruptibly. Since
 * 6.1 freezing has a task state of its own, and the bit of PF_FROZEN may be set for kernel threads.
 */
static __always_inline bool is_frozen(struct task_struct *task, __u32 state)
{
	if (state & TASK_UNINTERRUPTIBLE)
		return (BPF_CORE_READ(task, flags) & (PF_FROZEN | PF_KTHREAD)) == PF_FROZEN;
	return bpf_core_field_exists(task->frozen) && BPF_CORE_READ_BITFIELD(task, frozen);
}

static __always_inline __u32 wait_state_of(struct task_struct *task, __u32 state)
{
	if (state & TASK_STOPPED_TRACED || is_frozen(task, state))
		return PKBPF_WAIT_STOPPED;
	if (state & TASK_INTERRUPTIBLE)
		return PKBPF_WAIT_SLEEP;
	if (!(state & (TASK_UNINTERRUPTIBLE | TASK_RTLOCK_WAIT)))
		return PKBPF_WAIT_STOPPED; /* parked */
	if (state & TASK_NOLOAD)
		return PKBPF_WAIT_SLEEP; /* idle kernel threads */
	return BPF_CORE_READ_BITFIELD(task, in_iowait) ? PKBPF_WAIT_DISK
						       : PKBPF_WAIT_UNINTERRUPTIBLE;
}

/* Sends a wait without a row to user space by itself. A global function; always returns 0. */
int wait_send(__u32 slot, __u64 wait_ns, __u64 queue_ns);
/* Sends a finished wait for the trace. A global function; always returns 0. */
int wait_trace(__u32 slot, __u64 wait_ns, __u64 queue_ns);

/* A cut has sent this part of a wait as one whose peer is unknown: it was, at that time. */
static __always_inline __u64 before_cut(const struct pkbpf_thread *thread, __u64 wait_ns,
					__u64 queue_ns)
{
	__u64 begin_ns = thread->since_ns - wait_ns - queue_ns, cut_ns = offcpu_control.cut_ns;

	if (!thread->peer || offcpu_control.quota || cut_ns <= begin_ns)
		return 0;
	return cut_ns - begin_ns < wait_ns ? cut_ns - begin_ns : wait_ns;
}

/* Adds a finished wait to its stack's row. */
static __always_inline void row_add(__u32 slot, struct pkbpf_thread *thread, __u64 wait_ns,
				    __u64 queue_ns)
{
	__u32 weight = thread->weight, index = thread->row;
	__u64 before_ns = before_cut(thread, wait_ns, queue_ns);
	struct pkbpf_wait_row *row;

	if (!weight)
		return;
	/* The waits that this one represents had no stack taken. */
	if (weight > 1)
		wait_ns -= thread->taking_ns < wait_ns ? thread->taking_ns : wait_ns;
	row = before_ns ? bpf_map_lookup_elem(&offcpu_rows, &index) : NULL;
	if (row) {
		__sync_fetch_and_add(&row->total_ns, before_ns);
		wait_ns -= before_ns;
	}
	if (offcpu_config.wakers || index == PKBPF_NO_ROW || thread->peer)
		index = row_number(slot, thread->stack_id, thread->waker_id, thread->state,
				   thread->flags);
	row = bpf_map_lookup_elem(&offcpu_rows, &index);
	if (!row) {
		wait_send(slot, wait_ns, queue_ns);
		return;
	}
	__sync_fetch_and_add(&row->count, weight);
	__sync_fetch_and_add(&row->total_ns, wait_ns * weight);
	if (wait_ns > row->max_ns)
		row->max_ns = wait_ns;
	histogram_count(row->histogram, wait_ns, weight);
	if (weight > 1) {
		row->flags |= PKBPF_TOTALS_ESTIMATED;
		__sync_fetch_and_add(&row->estimated_ns, wait_ns * weight);
	}
	if (!queue_ns || thread->state == PKBPF_WAIT_RUNQUEUE)
		return;
	__sync_fetch_and_add(&row->queue_ns, queue_ns * weight);
	if (weight > 1)
		__sync_fetch_and_add(&row->estimated_queue_ns, queue_ns * weight);
	if (queue_ns > row->queue_max_ns)
		row->queue_max_ns = queue_ns;
	histogram_count(row->queue_histogram, queue_ns, weight);
}

/* Splits the last wait of a thread into its parts. The wait ended when the thread came onto the
 * CPU. Right after that tracepoint the kernel added the run-queue part of the wait to the thread's
 * run_delay. The split is therefore done one switch later, and no program is needed at wake-ups. */
static __always_inline void wait_split(struct pkbpf_thread *thread, __u32 slot, __u64 run_delay_ns)
{
	__u64 wait_ns, queue_ns = 0;
	__u32 state;

	if (!thread->pending_ns)
		return;
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
	if (offcpu_config.locks)
		lock_count(slot, wait_ns + queue_ns, queue_ns,
			   wait_ns + queue_ns >= offcpu_config.min_block_ns);
	if (offcpu_config.trace_ns && wait_ns + queue_ns >= offcpu_config.trace_ns)
		wait_trace(slot, wait_ns, queue_ns);
	thread->flags = 0;
	thread->peer = 0;
}

/* The same for rare cases: a global function; always returns 0. */
int wait_finish(__u32 slot, __u64 run_delay_ns);

#endif
