/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the account of the current thread, at the start and the end of a region. */
#ifndef PKBPF_SPAN_BPF_H
#define PKBPF_SPAN_BPF_H

#include "offcpu.bpf.h"
#include "rss.bpf.h"

#include <pkbpf/span.h>

struct span_address {
	__u64 here;    /* of this value, on this CPU */
	__u64 element; /* as the map keeps it */
	__u64 map;
};

struct span_address_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct span_address);
};
extern struct span_address_map span_addresses;

/* A reading is repeated when the thread was switched meanwhile. */
#define SPAN_TRIES 3

/*
 * The account that the next switch will make for a thread that has none: see thread_admit() in
 * offcpu.bpf.c. Since it came onto this CPU, the thread has not been switched.
 */
static __always_inline void span_read_ahead(struct pkbpf_span_reading *at, struct task_struct *task)
{
	__u64 start_ns = offcpu_control.start_ns, born_ns = BPF_CORE_READ(task, start_time),
	      came_ns = 0, queue_ns, *last;
	__u32 zero = 0;

	last = bpf_map_lookup_elem(&offcpu_last_switch, &zero);
	if (last)
		came_ns = *last;
	if (born_ns > start_ns && BPF_CORE_READ(task, sched_info.pcount) <= 1) {
		queue_ns = BPF_CORE_READ(task, sched_info.run_delay);
		if (came_ns > born_ns && came_ns - born_ns > queue_ns)
			queue_ns = came_ns - born_ns;
		if (queue_ns > at->now_ns - born_ns)
			queue_ns = at->now_ns - born_ns;
		at->first_ns = born_ns;
		at->waited_ns[PKBPF_WAIT_RUNQUEUE] = queue_ns;
		return;
	}
	if (came_ns < born_ns)
		came_ns = born_ns;
	at->first_ns = came_ns > start_ns ? came_ns : start_ns;
}

/* The wait before the thread's stay on this CPU: it is divided at the next switch, as wait_split()
 * in offcpu_wait.bpf.h does. */
static __always_inline void span_add_pending(struct pkbpf_span_reading *at, __u32 state,
					     __u64 wait_ns, __u64 queue_ns)
{
	if (state == PKBPF_WAIT_RUNQUEUE)
		queue_ns = wait_ns;
	if (queue_ns > wait_ns)
		queue_ns = wait_ns;
	at->waited_ns[PKBPF_WAIT_RUNQUEUE] += queue_ns;
	/* The verifier of 5.10 loses the bounds of an index. */
#pragma unroll
	for (__u32 i = 1; i < PKBPF_WAIT_STATES; i++)
		if (i == state)
			at->waited_ns[i] += wait_ns - queue_ns;
}

static __always_inline void span_read_account(struct pkbpf_span_reading *at,
					      struct task_struct *task,
					      volatile struct pkbpf_thread *thread)
{
	__u64 wait_ns = thread->pending_ns, passed_ns, ran_ns;

	at->first_ns = thread->first_ns;
#pragma unroll
	for (int i = 1; i < PKBPF_WAIT_STATES; i++)
		at->waited_ns[i] = thread->time_ns[i];
	/* It came onto the CPU unseen: see repair_switch_in() in offcpu.bpf.c. */
	if (thread->place == PKBPF_THREAD_OFF_CPU) {
		passed_ns = at->now_ns - thread->since_ns;
		ran_ns = BPF_CORE_READ(task, se.sum_exec_runtime) - thread->ran_ns;
		wait_ns = ran_ns > passed_ns ? 0 : passed_ns - ran_ns;
	}
	if (wait_ns)
		span_add_pending(at, thread->state, wait_ns,
				 BPF_CORE_READ(task, sched_info.run_delay) - thread->run_delay_ns);
}

static __always_inline void span_read_counts(struct pkbpf_span_reading *at,
					     struct task_struct *task)
{
	at->minor_faults = BPF_CORE_READ(task, min_flt);
	at->major_faults = BPF_CORE_READ(task, maj_flt);
	if (bpf_core_field_exists(task->ioac.read_bytes)) {
		at->read_bytes = BPF_CORE_READ(task, ioac.read_bytes);
		at->written_bytes = BPF_CORE_READ(task, ioac.write_bytes);
	}
}

/*
 * Reads the account of the current thread. Nobody else writes to it while the thread runs; only a
 * switch in between can disturb the reading, and each switch changes the number of switches. After
 * SPAN_TRIES disturbed readings first_ns is 0: nothing but the time is known.
 */
static __always_inline void span_read(struct pkbpf_span_reading *at, struct task_struct *task,
				      __u32 tid)
{
	volatile struct pkbpf_thread *thread;
	__u64 switches = 0;
	__u32 slot;

	for (int i = 0; i < SPAN_TRIES; i++) {
		__builtin_memset(at, 0, sizeof(*at));
		if (!span_config.has_accounts) {
			at->now_ns = bpf_ktime_get_ns();
			break;
		}
		thread = thread_find(tid, &slot);
		if (thread)
			switches = thread->voluntary + thread->involuntary;
		barrier();
		at->now_ns = bpf_ktime_get_ns();
		if (thread) {
			span_read_account(at, task, thread);
			barrier();
			if (thread->voluntary + thread->involuntary == switches)
				break;
		} else {
			span_read_ahead(at, task);
			barrier();
			if (!thread_find(tid, &slot))
				break;
		}
		at->first_ns = 0;
	}
	span_read_counts(at, task);
}

/* How far this CPU's copy of a per-CPU variable is from the address that the kernel keeps of it;
 * see add_cpu() in resource.bpf.c. 0: not known. */
static __always_inline __u64 span_cpu_offset(void)
{
	__u32 zero = 0;
	volatile struct span_address *address = bpf_map_lookup_elem(&span_addresses, &zero);

	if (!address)
		return 0;
	address->here = (__u64)address;
	if (!address->element) {
		__u64 element = 0;

		address->map = (__u64)&span_addresses;
		bpf_probe_read_kernel(&element, sizeof(element),
				      (void *)address->map +
					      bpf_core_field_offset(struct bpf_array, pptrs));
		address->element = element;
	}
	return address->element ? address->here - address->element : 0;
}

#define SPAN_ADD_UNCOUNTED(mm, kind, offset, pages)                                                \
	do {                                                                                       \
		__u64 base = (__u64)BPF_CORE_READ(mm, rss_stat[kind].counters);                    \
		__s32 some = 0;                                                                    \
                                                                                                   \
		bpf_probe_read_kernel(&some, sizeof(some), (void *)(base + (offset)));             \
		*(pages) += some;                                                                  \
	} while (0)

/* Of regions, not of calls: those are too many. With what this CPU has not yet added to the sum:
 * the share of this thread, as long as it stays here. */
static __always_inline void span_read_memory(struct pkbpf_span_reading *at,
					     struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 offset;

	if (!mm)
		return;
	at->rss_pages = rss_pages(mm);
	if (!bpf_core_field_exists(mm->rss_stat[0].counters)) {
		struct task_struct___before_6_2 *old = (void *)task;

		if (bpf_core_field_exists(old->rss_stat.count))
			at->rss_pages += BPF_CORE_READ(old, rss_stat.count[RSS_FILE]) +
					 BPF_CORE_READ(old, rss_stat.count[RSS_ANONYMOUS]) +
					 BPF_CORE_READ(old, rss_stat.count[RSS_SHARED]);
		return;
	}
	offset = span_cpu_offset();
	if (!offset)
		return;
	SPAN_ADD_UNCOUNTED(mm, RSS_FILE, offset, &at->rss_pages);
	SPAN_ADD_UNCOUNTED(mm, RSS_ANONYMOUS, offset, &at->rss_pages);
	SPAN_ADD_UNCOUNTED(mm, RSS_SHARED, offset, &at->rss_pages);
}

#endif
