// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Allocations that the sampler in a process has chosen (preload/), and their end: probes on its
 * USDT sites otel_memory:alloc(address, size, weight) and otel_memory:free(address), which are the
 * first instructions of functions with these parameters.
 */
#include "shared.bpf.h"
#include "stack.bpf.h"
#include "stack_id.bpf.h"
#include "task_filter.bpf.h"

#include "alloc_regs.bpf.h"
#include "alloc_users.bpf.h"

#include <pkbpf/alloc.h>

struct {
	__uint(type, BPF_MAP_TYPE_HASH); /* preallocated: an allocator must not be waited for */
	__uint(max_entries, PKBPF_ALLOC_LATE_FREES);
	__type(key, struct pkbpf_alloc_late_free);
	__type(value, __u64);
} alloc_late_frees SEC(".maps");

struct alloc_users_map alloc_users SEC(".maps");

struct pkbpf_alloc_control alloc_control = {};

static __always_inline bool emit_alloc(const struct sample_scratch *scratch, __u64 stack_id,
				       struct pt_regs *ctx)
{
	struct pkbpf_event_alloc event = {};

	event.header.kind = PKBPF_EVENT_ALLOC;
	event.header.size = sizeof(event);
	/* Behind its stack, which may come through another ring. */
	event.header.time_ns = scratch->sample.header.time_ns + 1;
	event.stack_id = stack_id;
	event.pid = scratch->sample.pid;
	event.tid = scratch->sample.tid;
	event.cgroup_id = scratch->sample.cgroup_id;
	event.address = PT_REGS_PARM1(ctx);
	event.size = PT_REGS_PARM2(ctx);
	event.weight = PT_REGS_PARM3(ctx);
	__builtin_memcpy(event.comm, scratch->sample.comm, sizeof(event.comm));
	return bpf_ringbuf_output(&sample_ring, &event, sizeof(event),
				  ring_wakeup(&sample_ring, config.ring_wakeup_bytes)) == 0;
}

static __always_inline bool is_inside(__u64 now_ns)
{
	return alloc_control.start_ns && now_ns >= alloc_control.start_ns &&
	       (!alloc_control.end_ns || now_ns < alloc_control.end_ns);
}

static __always_inline void count_lost(struct pt_regs *ctx)
{
	counter_add(PKBPF_COUNTER_ALLOC_LOST, 1);
	counter_add(PKBPF_COUNTER_ALLOC_LOST_BYTES, PT_REGS_PARM3(ctx));
}

/* A constant slot at each call: the verifier follows both. */
static __always_inline void take_sample(struct pt_regs *ctx, enum scratch_slot slot, __u64 now_ns)
{
	struct sample_scratch *scratch = scratch_get(slot);
	__u64 stack_id;

	if (!scratch)
		return;
	sample_begin_at(scratch, slot, PKBPF_PROFILE_ALLOC, bpf_get_current_pid_tgid(), now_ns);
	alloc_read_stack(ctx, scratch);
	stack_id = stack_send(scratch, slot);
	if (emit_alloc(scratch, stack_id, ctx))
		counter_add(PKBPF_COUNTER_ALLOC_SAMPLES, 1);
	else
		count_lost(ctx);
}

SEC("uprobe")
int alloc_sampled(struct pt_regs *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), now_ns = bpf_ktime_get_ns();
	struct alloc_users *users;
	__u32 zero = 0;

	if (!is_inside(now_ns) || !filter_current(pid_tgid >> 32, (__u32)pid_tgid))
		return 0;
	users = bpf_map_lookup_elem(&alloc_users, &zero);
	if (!users)
		return 0;
	if (scratch_enter(&users->first)) {
		take_sample(ctx, SCRATCH_ALLOC, now_ns);
		scratch_leave(&users->first);
	} else if (scratch_enter(&users->nested)) {
		take_sample(ctx, SCRATCH_ALLOC_NESTED, now_ns);
		scratch_leave(&users->nested);
	} else {
		count_lost(ctx);
	}
	return 0;
}

SEC("uprobe")
int alloc_freed(struct pt_regs *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), now_ns = bpf_ktime_get_ns();
	struct pkbpf_event_free event = {};
	struct pkbpf_alloc_late_free late = {};

	if (!is_inside(now_ns) || !filter_current(pid_tgid >> 32, (__u32)pid_tgid))
		return 0;
	event.header.kind = PKBPF_EVENT_FREE;
	event.header.size = sizeof(event);
	event.header.time_ns = now_ns;
	event.pid = pid_tgid >> 32;
	event.tid = (__u32)pid_tgid;
	event.address = PT_REGS_PARM1(ctx);
	if (bpf_ringbuf_output(&sample_ring, &event, sizeof(event),
			       ring_wakeup(&sample_ring, config.ring_wakeup_bytes)) == 0)
		return 0;
	late.address = event.address;
	late.pid = event.pid;
	if (bpf_map_update_elem(&alloc_late_frees, &late, &now_ns, BPF_ANY))
		counter_add(PKBPF_COUNTER_ALLOC_FREES_LOST, 1);
	return 0;
}
