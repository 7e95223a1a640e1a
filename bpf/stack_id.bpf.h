/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Gives stacks ids, so that events summed in the kernel refer to a stack by id and its frames are
 * sent once. */
#ifndef PKBPF_STACK_ID_BPF_H
#define PKBPF_STACK_ID_BPF_H

#include "shared.bpf.h"

/* stack id -> 1: its frames were sent. The least recently used entry makes room, because new
 * stacks, at least of new processes, never stop coming. */
struct stacks_sent_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u32);
};
extern struct stacks_sent_map stacks_sent SEC(".maps");

/*
 * Returns the id of the stack in the scratch memory of `slot`: a 64-bit hash, never 0. The hash
 * covers the sample's pid, stack end and frames, and the identity of the current process since its
 * last exec. The first time, the frames are sent as PKBPF_EVENT_STACK. 0: they could not be sent,
 * and the loss was counted. A global function, so that the verifier follows its loop once for all
 * callers.
 */
__u64 stack_intern(__u32 slot);

/* These bits mark ids of raw stacks. A hash of stack_intern() may have them as well; no reader
 * depends on the difference. */
#define RAW_STACK_ID 0xc000000000000000ULL

/* stack_intern(), or, if the unwind tables are not ready, a new id for a raw stack that user space
 * unwinds. */
static __always_inline __u64 stack_send(struct sample_scratch *scratch, __u32 slot)
{
	if (scratch->unwind.want_raw) {
		scratch->unwind.raw_stack_id =
			RAW_STACK_ID | (scratch->sample.header.time_ns << 6 & ~RAW_STACK_ID) |
			(scratch->sample.cpu & 63);
		if (emit_raw_stack(slot))
			return scratch->unwind.raw_stack_id;
	}
	return stack_intern(slot);
}

#endif
