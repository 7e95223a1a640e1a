/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Allocates elements of array maps: first those never used, then those that user space has
 * freed. */
#ifndef PKBPF_SLOT_BPF_H
#define PKBPF_SLOT_BPF_H

#include "shared.bpf.h"

/* Maximum number of collisions when two CPUs allocate at once. */
#define SLOT_TRIES 8

/*
 * Allocates an element and returns its number; false: all are in use. `claims_at` is the offset of
 * the claim counter in an element: a __u32 that is never reset. The CPU that raises it from 0 to 1
 * has the element. Kernels before 5.12 have no atomic operation that returns the old value, so the
 * code adds and then reads: of two CPUs that add, at most one reads 1. If neither does, the element
 * is never used. `next` is only a hint where to start.
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
