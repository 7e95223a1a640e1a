/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What needs the stack at which a region was left: a record of one that took long, and the sums of
 * calls by stack. */
#ifndef PKBPF_SPAN_SLOW_BPF_H
#define PKBPF_SPAN_SLOW_BPF_H

#include "alloc_regs.bpf.h"
#include "scratch_user.bpf.h"
#include "span_stack.bpf.h"
#include "stack_id.bpf.h"

/* Records per second and CPU: a limit that nearly all regions reach must not fill the ring. */
#define SLOW_RECORDS 500

struct span_slow_user {
	__u64 second;
	__u32 sent;  /* in that second */
	__u32 users; /* of the scratch memory */
};

struct span_slow_users_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct span_slow_user);
};
extern struct span_slow_users_map span_slow_users SEC(".maps");

/* The source sets the size. */
struct span_callers_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_span_caller_key);
	__type(value, struct pkbpf_span_caller);
};
extern struct span_callers_map span_callers SEC(".maps");

/* NULL: the thread has preempted another one here. */
static __always_inline struct span_slow_user *slow_begin(void)
{
	struct span_slow_user *user;
	__u32 zero = 0;

	user = bpf_map_lookup_elem(&span_slow_users, &zero);
	return user && scratch_enter(&user->users) ? user : NULL;
}

/* false: no more in this second. */
static __always_inline bool slow_is_allowed(struct span_slow_user *user)
{
	__u64 second = bpf_ktime_get_ns() >> 30;

	if (user->second != second) {
		user->second = second;
		user->sent = 0;
	}
	if (user->sent >= SLOW_RECORDS)
		return false;
	user->sent++;
	return true;
}

/* Id of the thread's stack, which stays in the scratch memory; 0: unknown. */
static __always_inline __u64 slow_read_stack(void *ctx, bool at_probe,
					     struct sample_scratch *scratch, __u64 pid_tgid)
{
	sample_begin_at(scratch, SCRATCH_SPAN, PKBPF_PROFILE_OFFCPU, pid_tgid, bpf_ktime_get_ns());
	if (at_probe)
		alloc_read_stack(ctx, scratch);
	else
		stack_read_user(ctx, scratch);
	return stack_send(scratch, SCRATCH_SPAN);
}

static __always_inline bool slow_emit(const struct sample_scratch *scratch,
				      const struct pkbpf_span_slow *slow, __u64 stack_id)
{
	struct pkbpf_event_slow_region *record;
	struct pkbpf_span_row *row;
	__u32 index = slow->row;

	row = bpf_map_lookup_elem(&span_rows, &index);
	if (!row)
		return false;
	record = bpf_ringbuf_reserve(&sample_ring, sizeof(*record), 0);
	if (!record)
		return false;
	record->header.size = sizeof(*record);
	record->header.kind = PKBPF_EVENT_SLOW_REGION;
	record->header.flags = row->flags;
	record->header.time_ns = scratch->sample.header.time_ns + 1;
	record->stack_id = stack_id;
	record->start_ns = slow->start_ns;
	record->wall_ns = slow->wall_ns;
	__builtin_memcpy(record->part_ns, slow->part_ns, sizeof(record->part_ns));
	record->cgroup_id = scratch->sample.cgroup_id;
	record->pid = scratch->sample.pid;
	record->tid = scratch->sample.tid;
	__builtin_memcpy(record->comm, scratch->sample.comm, sizeof(record->comm));
	__builtin_memcpy(record->name, row->name, sizeof(record->name));
	bpf_ringbuf_submit(record, ring_wakeup(&sample_ring, config.ring_wakeup_bytes));
	return true;
}

/* The entry of calls with a stack; NULL: no room. */
static __always_inline struct pkbpf_span_caller *caller_get(const struct pkbpf_span_caller_key *key)
{
	struct pkbpf_span_caller *known = bpf_map_lookup_elem(&span_callers, key), first = {};

	if (known)
		return known;
	bpf_get_current_comm(first.comm, sizeof(first.comm));
	first.cgroup_id = bpf_get_current_cgroup_id();
	bpf_map_update_elem(&span_callers, key, &first, BPF_NOEXIST);
	return bpf_map_lookup_elem(&span_callers, key);
}

/* Adds the call that the thread has ended to those of its stack. A function of its own: its stack
 * is not above that of unwinding. */
static __noinline int caller_add(struct pkbpf_span_called *called, __u64 stack_id, __u32 pid)
{
	struct pkbpf_span_caller_key key = {
		.stack_id = stack_id, .pid = pid, .epoch = span_control.epoch};
	struct pkbpf_span_caller *caller = caller_get(&key);

	if (!caller) {
		/* Those without a stack have one entry. */
		counter_add(PKBPF_COUNTER_CALLERS_FULL, 1);
		key.stack_id = 0;
		caller = caller_get(&key);
	}
	if (!caller)
		return 0;
	__sync_fetch_and_add(&caller->count, 1);
	__sync_fetch_and_add(&caller->total_ns, called->wall_ns);
	if (called->wall_ns > caller->max_ns)
		caller->max_ns = called->wall_ns;
	return 0;
}

/* Reads the stack of the thread, which has the scratch memory, and does what needs it. A region
 * that took long, and is not sent, is counted. */
static __always_inline void slow_use_stack(void *ctx, bool at_probe, struct span_slow_user *user,
					   struct pkbpf_span_stack *stack, __u64 pid_tgid)
{
	bool is_slow = span_config.want_slow && stack->slow.wall_ns;
	struct sample_scratch *scratch = scratch_get(SCRATCH_SPAN);
	__u64 stack_id;

	if (!scratch)
		return;
	if (is_slow && !slow_is_allowed(user)) {
		counter_add(PKBPF_COUNTER_SLOW_REGIONS_LOST, 1);
		is_slow = false;
		if (!span_config.want_callers)
			return;
	}
	stack_id = slow_read_stack(ctx, at_probe, scratch, pid_tgid);
	if (is_slow && !slow_emit(scratch, &stack->slow, stack_id))
		counter_add(PKBPF_COUNTER_SLOW_REGIONS_LOST, 1);
	if (span_config.want_callers && stack->called.is_set)
		caller_add(&stack->called, stack_id, pid_tgid >> 32);
	stack->called.is_set = 0;
}

static __always_inline void slow_send_from(void *ctx, bool at_probe)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct pkbpf_span_stack *stack;
	struct span_slow_user *user;

	if (!span_config.want_slow && !span_config.want_callers)
		return;
	stack = stack_find((__u32)pid_tgid);
	if (!stack)
		return;
	if (!(span_config.want_slow && stack->slow.wall_ns) &&
	    !(span_config.want_callers && stack->called.is_set))
		return;
	user = slow_begin();
	if (user) {
		slow_use_stack(ctx, at_probe, user, stack, pid_tgid);
		scratch_leave(&user->users);
	} else if (span_config.want_slow && stack->slow.wall_ns) {
		counter_add(PKBPF_COUNTER_SLOW_REGIONS_LOST, 1);
	}
	/* Without a stack it counts all the same. */
	if (span_config.want_callers && stack->called.is_set)
		caller_add(&stack->called, 0, pid_tgid >> 32);
	stack->slow.wall_ns = 0;
	stack->called.is_set = 0;
}

/* At the end of a program that leaves regions, at a probe. */
static __always_inline void slow_send(struct pt_regs *ctx)
{
	slow_send_from(ctx, true);
}

/* The same in the kernel. */
static __always_inline void slow_send_here(void *ctx)
{
	slow_send_from(ctx, false);
}

#endif
