/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends a record of a region that took long, with the stack at which it was left. */
#ifndef PKBPF_SPAN_SLOW_BPF_H
#define PKBPF_SPAN_SLOW_BPF_H

#include "alloc_regs.bpf.h"
#include "span_stack.bpf.h"
#include "stack_id.bpf.h"

/* Records per second and CPU: a limit that nearly all regions reach must not fill the ring. */
#define SLOW_RECORDS 500

struct span_slow_user {
	__u64 second;
	__u32 sent; /* in that second */
	__u32 tid;  /* uses the scratch memory; 0: nobody */
};

struct span_slow_users_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct span_slow_user);
};
extern struct span_slow_users_map span_slow_users SEC(".maps");

/* NULL: no more in this second, or the thread has preempted another one here. */
static __always_inline struct span_slow_user *slow_begin(__u32 tid)
{
	__u64 second = bpf_ktime_get_ns() >> 30;
	struct span_slow_user *user;
	__u32 zero = 0;

	user = bpf_map_lookup_elem(&span_slow_users, &zero);
	if (!user || user->tid)
		return NULL;
	if (user->second != second) {
		user->second = second;
		user->sent = 0;
	}
	if (user->sent >= SLOW_RECORDS)
		return NULL;
	user->sent++;
	user->tid = tid;
	return user;
}

static __always_inline bool slow_emit(void *ctx, bool at_probe, const struct pkbpf_span_slow *slow,
				      __u64 pid_tgid)
{
	struct sample_scratch *scratch = scratch_get(SCRATCH_SPAN);
	struct pkbpf_event_slow_region *record;
	struct pkbpf_span_row *row;
	__u32 index = slow->row;
	__u64 stack_id;

	row = bpf_map_lookup_elem(&span_rows, &index);
	if (!row || !scratch)
		return false;
	sample_begin_at(scratch, SCRATCH_SPAN, PKBPF_PROFILE_OFFCPU, pid_tgid, bpf_ktime_get_ns());
	if (at_probe)
		alloc_read_stack(ctx, scratch);
	else
		stack_read_user(ctx, scratch);
	stack_id = stack_send(scratch, SCRATCH_SPAN);
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

static __always_inline void slow_send_from(void *ctx, bool at_probe)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct pkbpf_span_stack *stack;
	struct span_slow_user *user;

	if (!span_config.want_slow)
		return;
	stack = stack_find((__u32)pid_tgid);
	if (!stack || !stack->slow.wall_ns)
		return;
	user = slow_begin((__u32)pid_tgid);
	if (!user || !slow_emit(ctx, at_probe, &stack->slow, pid_tgid))
		counter_add(PKBPF_COUNTER_SLOW_REGIONS_LOST, 1);
	stack->slow.wall_ns = 0;
	if (user)
		user->tid = 0;
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
