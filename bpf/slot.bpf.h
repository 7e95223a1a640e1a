/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hands out elements of array maps: first those that were never used, then those that user space
 * has given back. */
#ifndef PKBPF_SLOT_BPF_H
#define PKBPF_SLOT_BPF_H

#include "shared.bpf.h"

/* Two CPUs that want one at once meet at most so often. */
#define SLOT_TRIES 8

/*
 * Number of an element that is nobody's; false: all are in use. `claims_at` is the offset in an
 * element of its number of claims, a __u32 that is never reset: whoever raises it from 0 to 1 has
 * it. Kernels before 5.12 have no atomic operation that tells the old value, so an addition and a
 * look afterwards do: of two CPUs that add, one at most can see 1. When none does, the element is
 * never used. `next` only says where to look.
 */
static __always_inline bool slot_take(void *table, __u32 claims_at, volatile __u32 *next,
				      void *returned, __u32 *ret_index)
{
	for (int i = 0; i < SLOT_TRIES; i++) {
		__u32 index = *next, *claims;
		char *element = bpf_map_lookup_elem(table, &index);

		if (!element)
			break;
		claims = (__u32 *)(element + claims_at);
		__sync_fetch_and_add(claims, 1);
		if (*next <= index)
			*next = index + 1;
		if (*(volatile __u32 *)claims == 1) {
			*ret_index = index;
			return true;
		}
	}
	return bpf_map_pop_elem(returned, ret_index) == 0;
}

#endif
