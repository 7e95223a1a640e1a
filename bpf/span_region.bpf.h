/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which region a thread has open: for samples and stacks that are to know it. */
#ifndef PKBPF_SPAN_REGION_BPF_H
#define PKBPF_SPAN_REGION_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include <pkbpf/config.h>
#include <pkbpf/context.h>
#include <pkbpf/span.h>

struct span_threads_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);   /* tid */
	__type(value, __u32); /* of span_stacks */
};

struct span_stacks_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_span_stack);
};

extern struct span_threads_map span_threads SEC(".maps");
extern struct span_stacks_map span_stacks SEC(".maps");
extern const volatile struct pkbpf_span_config span_config;
extern const volatile struct pkbpf_context_config context_config;

/* A global function (context.bpf.c): 1 + number of the set of labels of the current thread's
 * context; 0: none. */
__u32 context_label(void);

/* 1 + row of the innermost region that the thread, which is the current one, has open, or the
 * number of its labels; 0: none, or not asked for. */
static __always_inline __u32 region_of_thread(__u32 tid)
{
	struct pkbpf_span_stack *stack;
	__u32 *index, depth;

	if (context_config.by_label)
		return context_label();
	if (!span_config.want_frames)
		return 0;
	index = bpf_map_lookup_elem(&span_threads, &tid);
	stack = index ? bpf_map_lookup_elem(&span_stacks, index) : NULL;
	if (!stack)
		return 0;
	depth = stack->depth;
	return depth ? stack->frames[(depth - 1) & (PKBPF_SPAN_DEPTH - 1)].row + 1 : 0;
}

/* What tells equal stacks in different regions apart; 0: no region. */
static __always_inline __u64 region_hash(__u32 region)
{
	return region * 0xD6E8FEB86659FD93ULL;
}

#endif
