// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls of allocators in running processes, which are probed for short windows: who allocates how
 * much. A call is sampled by its size; what becomes of the memory is not known.
 */
#include "shared.bpf.h"
#include "stack.bpf.h"
#include "stack_id.bpf.h"
#include "task_filter.bpf.h"

#include "alloc_regs.bpf.h"
#include "alloc_users.bpf.h"

#include <pkbpf/alloc.h>

extern struct pkbpf_alloc_control alloc_control;

/* -ln((i + 1/2) / 256) in parts of 2^16; written before programs are loaded. */
const volatile __u32 alloc_logarithms[256] = {};
const volatile __u64 alloc_interval = 0;

/* Whose countdown it is does not matter: exponential distances have no memory. */
struct alloc_countdown {
	__s64 left;
	__u64 drawn; /* 0: not yet */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct alloc_countdown);
} alloc_countdowns SEC(".maps");

/* Exponential with a mean of the interval. The last of the 256 steps of the logarithm is drawn
 * again, as a distance of its own. */
static __always_inline __u64 draw(void)
{
	__u32 random = bpf_get_prandom_u32();
	__u64 distance = 0;

	if (!(random & 0xff)) {
		distance = 363409; /* ln 256 */
		random >>= 8;
	}
	distance += alloc_logarithms[random & 0xff];
	/* Intervals are below 2^40. */
	return (distance * (alloc_interval >> 8) >> 8) + 1;
}

static __always_inline bool is_chosen(struct alloc_countdown *countdown, __u64 size)
{
	if (!countdown->drawn) {
		countdown->drawn = 1;
		countdown->left = draw();
	}
	countdown->left -= size;
	if (countdown->left >= 0)
		return false;
	countdown->left = draw();
	return true;
}

static __always_inline void count_lost(__u64 size)
{
	counter_add(PKBPF_COUNTER_ALLOC_LOST, 1);
	counter_add(PKBPF_COUNTER_ALLOC_LOST_BYTES, size > alloc_interval ? size : alloc_interval);
}

static __always_inline bool emit_call(struct pt_regs *ctx, __u64 size, __u64 pid_tgid)
{
	struct sample_scratch *scratch = scratch_get(SCRATCH_ALLOC);
	struct pkbpf_event_alloc event = {};

	if (!scratch)
		return false;
	sample_begin_at(scratch, SCRATCH_ALLOC, PKBPF_PROFILE_ALLOC, pid_tgid, bpf_ktime_get_ns());
	alloc_read_stack(ctx, scratch);
	event.stack_id = stack_send(scratch, SCRATCH_ALLOC);
	event.header.kind = PKBPF_EVENT_ALLOC;
	event.header.flags = PKBPF_ALLOC_CALL;
	event.header.size = sizeof(event);
	event.header.time_ns = scratch->sample.header.time_ns + 1;
	event.pid = scratch->sample.pid;
	event.tid = scratch->sample.tid;
	event.cgroup_id = scratch->sample.cgroup_id;
	event.size = size;
	event.weight = alloc_interval;
	__builtin_memcpy(event.comm, scratch->sample.comm, sizeof(event.comm));
	return bpf_ringbuf_output(&sample_ring, &event, sizeof(event),
				  ring_wakeup(&sample_ring, config.ring_wakeup_bytes)) == 0;
}

static __always_inline int take_call(struct pt_regs *ctx, __u64 size)
{
	struct alloc_countdown *countdown;
	struct alloc_users *users;
	__u64 pid_tgid;
	__u32 zero = 0;

	if (!alloc_control.start_ns || alloc_control.end_ns || !alloc_control.window_is_open ||
	    !size || size > PKBPF_ALLOC_MAX_BYTES)
		return 0;
	countdown = bpf_map_lookup_elem(&alloc_countdowns, &zero);
	if (!countdown || !is_chosen(countdown, size))
		return 0;
	pid_tgid = bpf_get_current_pid_tgid();
	if (!filter_current(pid_tgid >> 32, (__u32)pid_tgid))
		return 0;
	users = bpf_map_lookup_elem(&alloc_users, &zero);
	if (!users)
		return 0;
	if (!scratch_enter(&users->first)) {
		count_lost(size);
		return 0;
	}
	if (emit_call(ctx, size, pid_tgid))
		counter_add(PKBPF_COUNTER_ALLOC_SAMPLES, 1);
	else
		count_lost(size);
	scratch_leave(&users->first);
	return 0;
}

static __always_inline __u64 product(struct pt_regs *ctx)
{
	__u64 count = PT_REGS_PARM1(ctx), size = PT_REGS_PARM2(ctx);

	if (count > PKBPF_ALLOC_MAX_BYTES || size > PKBPF_ALLOC_MAX_BYTES ||
	    (count >> 16 && size >> 31) || (size >> 16 && count >> 31))
		return 0;
	return count * size;
}

/* 0: not to be counted. realloc() of nothing goes on in malloc(), which is probed. */
static __always_inline __u64 size_of(struct pt_regs *ctx, enum pkbpf_alloc_shape shape)
{
	switch (shape) {
	case PKBPF_ALLOC_FIRST:
		return PT_REGS_PARM1(ctx);
	case PKBPF_ALLOC_SECOND:
		return PT_REGS_PARM2(ctx);
	case PKBPF_ALLOC_THIRD:
		return PT_REGS_PARM3(ctx);
	case PKBPF_ALLOC_PRODUCT:
		return product(ctx);
	case PKBPF_ALLOC_AGAIN:
		return PT_REGS_PARM1(ctx) ? PT_REGS_PARM2(ctx) : 0;
	default:
		return 0;
	}
}

/* Attached to all functions at once (since 6.6), the shape is the cookie. */
SEC("?uprobe")
int alloc_call(struct pt_regs *ctx)
{
	return take_call(ctx, size_of(ctx, (enum pkbpf_alloc_shape)bpf_get_attach_cookie(ctx)));
}

/* Before: attached to one function each. */
SEC("?uprobe")
int alloc_call_first(struct pt_regs *ctx)
{
	return take_call(ctx, size_of(ctx, PKBPF_ALLOC_FIRST));
}

SEC("?uprobe")
int alloc_call_second(struct pt_regs *ctx)
{
	return take_call(ctx, size_of(ctx, PKBPF_ALLOC_SECOND));
}

SEC("?uprobe")
int alloc_call_third(struct pt_regs *ctx)
{
	return take_call(ctx, size_of(ctx, PKBPF_ALLOC_THIRD));
}

SEC("?uprobe")
int alloc_call_product(struct pt_regs *ctx)
{
	return take_call(ctx, size_of(ctx, PKBPF_ALLOC_PRODUCT));
}

SEC("?uprobe")
int alloc_call_again(struct pt_regs *ctx)
{
	return take_call(ctx, size_of(ctx, PKBPF_ALLOC_AGAIN));
}
