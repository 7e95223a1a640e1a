/* SPDX-License-Identifier: BSD-2-Clause */
/* Hands out ranges of the numbers 0 … size - 1: places in arrays that the kernel shares with us.
 * One owner thread. */
#ifndef PKBPF_UNWIND_TABLE_EXTENT_ALLOCATOR_H
#define PKBPF_UNWIND_TABLE_EXTENT_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct extent_allocator;

/* NULL: out of memory. All numbers are free. */
struct extent_allocator *extent_allocator_new(uint32_t size);
void extent_allocator_free(struct extent_allocator *allocator);
/* `count` (> 0) consecutive numbers, from the smallest free range that fits, so that large ranges
 * stay whole. false: no range is that large. */
bool extent_allocator_take(struct extent_allocator *allocator, uint32_t count, uint32_t *ret_start);
/* Returns what was taken, whole or in parts. false: the range was (partly) free already or lies
 * outside, or out of memory; nothing is changed then. */
bool extent_allocator_give(struct extent_allocator *allocator, uint32_t start, uint32_t count);
uint32_t
extent_allocator_largest(const struct extent_allocator *allocator); /* of the free ranges */
uint32_t extent_allocator_free_count(const struct extent_allocator *allocator);

#endif
