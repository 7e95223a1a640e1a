/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The N largest numbers of a stream, however long it is: a heap with the smallest of them on top.
 * What belongs to a number the caller keeps in an array of his own, by the number's slot.
 */
#ifndef PKBPF_BASE_LARGEST_H
#define PKBPF_BASE_LARGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct largest_item {
	uint64_t value;
	size_t slot;
};

struct largest { /* zero-initialised keeps nothing */
	size_t limit;
	ARRAY_OF(struct largest_item)
	heap; /* no item is larger than those at twice its number plus 1 and plus 2 */
};

/* Smallest number that is taken in: 0 while there is room; of equal ones the first stay.
 * UINT64_MAX, limit 0: none is. */
uint64_t largest_bound(const struct largest *largest);
/* 1: is among the largest so far, in a slot below the limit: the next one, or that of the number it
 * drives out. 0: is not. -ENOMEM. */
int largest_add(struct largest *largest, uint64_t value, size_t *ret_slot);
/* Keeps none of them; slots begin anew. */
void largest_clear(struct largest *largest);
void largest_done(struct largest *largest);

#endif
