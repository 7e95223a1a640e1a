/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks of a sample of messages. Included by one program file, because its map is here. */
#ifndef PKBPF_NETWORK_STACK_BPF_H
#define PKBPF_NETWORK_STACK_BPF_H

#include "network.bpf.h"
#include "scratch_user.bpf.h"
#include "stack.bpf.h"
#include "stack_id.bpf.h"

/* Per CPU, about this many stacks are taken in each window of 2^26 ns (67 ms): 120 a second. Beyond
 * that, one message in 2^shift is chosen at random and stands for 2^shift. */
#define STACK_WINDOW_SHIFT 26
#define STACKS_PER_WINDOW  8
#define STACK_MAX_SHIFT	   14
struct network_thinning {
	__u64 window;
	__u32 stacks; /* in this window */
	__u32 shift;
	__u32 users; /* of the scratch memory: a thread may preempt another */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct network_thinning);
} network_thinnings SEC(".maps");

/* Returns 1 + shift of the number of messages that this one stands for; 0: not chosen. */
static __always_inline __u32 choose_message(struct network_thinning *thinning, __u64 now_ns)
{
	__u64 window = now_ns >> STACK_WINDOW_SHIFT;
	__u32 shift = thinning->shift & 15;

	/* The hashed clock is unpredictable. */
	if (now_ns * 0x9E3779B97F4A7C15ULL >> 40 & ((1U << shift) - 1))
		return 0;
	if (window != thinning->window) {
		if (shift &&
		    (thinning->stacks < STACKS_PER_WINDOW / 2 || window - thinning->window > 1))
			thinning->shift = shift - 1;
		thinning->window = window;
		thinning->stacks = 0;
	}
	/* A changed shift is for the next message: this one was chosen with the old one. */
	if (++thinning->stacks > STACKS_PER_WINDOW) {
		thinning->stacks = 0;
		if (shift < STACK_MAX_SHIFT)
			thinning->shift = shift + 1;
	}
	return 1 + shift;
}

static __always_inline void send_stack(const struct sample_scratch *scratch,
				       const struct pkbpf_network_row *row, __u64 stack_id,
				       __u64 count, __u64 bytes)
{
	struct pkbpf_event_totals *totals = bpf_ringbuf_reserve(&sample_ring, sizeof(*totals), 0);

	/* Without room, other stacks stand for these messages. */
	if (!totals)
		return;
	__builtin_memset(totals, 0, sizeof(*totals));
	totals->header.size = sizeof(*totals);
	totals->header.kind = PKBPF_EVENT_TOTALS;
	totals->header.flags = PKBPF_TOTALS_ESTIMATED;
	totals->header.time_ns = scratch->sample.header.time_ns + 1; /* behind its stack */
	totals->stack_id = stack_id;
	totals->pid = scratch->sample.pid;
	totals->tid = row->key.tid;
	totals->cgroup_id = scratch->sample.cgroup_id;
	totals->device = row->label;
	totals->profile_kind = PKBPF_PROFILE_NETWORK;
	totals->state = scratch->sample.state;
	totals->measure = PKBPF_NETWORK_STACKS;
	totals->count = count;
	totals->total = bytes;
	__builtin_memcpy(totals->comm, scratch->sample.comm, sizeof(totals->comm));
	bpf_ringbuf_submit(totals, BPF_RB_NO_WAKEUP);
}

static __always_inline void read_message_stack(void *ctx, struct sample_scratch *scratch,
					       __u32 skipped)
{
	long size;

	if (config.want_kernel_stack) {
		size = bpf_get_stack(ctx, scratch->ips, PKBPF_MAX_KERNEL_FRAMES * 8, skipped);
		if (size < 0)
			counter_add(PKBPF_COUNTER_KERNEL_STACK_FAILED, 1);
		else
			scratch->sample.n_kernel = size / 8;
	}
	if (config.want_user_stack && !current_is_kernel_thread())
		stack_read_user(ctx, scratch);
}

/* Takes the stack of a message, if it is chosen; without so many frames of tracing. */
static __always_inline void take_message_stack(void *ctx, const struct pkbpf_network_row *row,
					       __u64 bytes, bool is_sent, __u64 now_ns,
					       __u32 skipped)
{
	struct network_thinning *thinning;
	struct sample_scratch *scratch;
	__u32 zero = 0, chosen;
	__u64 id;

	if (!network_config.want_stacks)
		return;
	thinning = bpf_map_lookup_elem(&network_thinnings, &zero);
	if (!thinning)
		return;
	chosen = choose_message(thinning, now_ns);
	scratch = chosen ? scratch_get(SCRATCH_NETWORK) : NULL;
	if (!scratch || !scratch_enter(&thinning->users))
		return;
	sample_begin(scratch, SCRATCH_NETWORK, PKBPF_PROFILE_NETWORK);
	scratch->sample.state = is_sent ? PKBPF_NETWORK_SENT : PKBPF_NETWORK_RECEIVED;
	read_message_stack(ctx, scratch, skipped);
	id = stack_send(scratch, SCRATCH_NETWORK);
	if (id)
		send_stack(scratch, row, id, 1ULL << (chosen - 1), bytes << (chosen - 1));
	scratch_leave(&thinning->users);
}

#endif
