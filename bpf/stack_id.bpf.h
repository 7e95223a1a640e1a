/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers stacks, so that events added up in the kernel name theirs by an id and its frames are
 * sent once. */
#ifndef PKBPF_STACK_ID_BPF_H
#define PKBPF_STACK_ID_BPF_H

#include "shared.bpf.h"

/* stack id -> 1: its frames have been sent. What has not come again for longest makes room, since
 * new stacks, of new processes at least, never stop coming. */
struct stacks_sent_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u32);
};
extern struct stacks_sent_map stacks_sent SEC(".maps");

/*
 * Id of the stack in the scratch memory of `slot` (pid, stack end and frames of the sample there,
 * in the current process as it is since its last exec): a 64-bit hash, never 0. The first time, its
 * frames go out as PKBPF_EVENT_STACK. 0: they could not be sent, and the loss has been counted. A
 * global function, so that the verifier walks its loop once for all callers.
 */
__u64 stack_intern(__u32 slot);

/* These bits tell numbers of stacks that come raw from the hashes of stack_intern(), as far as
 * anyone needs to know. */
#define RAW_STACK_ID 0xc000000000000000ULL

/* The same, and where its tables are not there yet a stack of its own number, of which user space
 * walks a copy. */
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
