/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocates ranges of the numbers 0 … size - 1: indexes into arrays shared with the kernel. One
 * owner thread. */
#ifndef PKBPF_UNWIND_TABLE_EXTENT_ALLOCATOR_H
#define PKBPF_UNWIND_TABLE_EXTENT_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct extent_allocator;

/* NULL: out of memory. All numbers are free at first. */
struct extent_allocator *extent_allocator_new(uint32_t size);
void extent_allocator_free(struct extent_allocator *allocator);
/* Takes `count` (> 0) consecutive numbers from the smallest free range that fits, which preserves
 * large ranges. Returns false when no range is large enough. */
bool extent_allocator_take(struct extent_allocator *allocator, uint32_t count, uint32_t *ret_start);
/* Frees a taken range, or a part of one. Returns false and changes nothing when the range is
 * (partly) free already or out of bounds, or when out of memory. */
bool extent_allocator_give(struct extent_allocator *allocator, uint32_t start, uint32_t count);
uint32_t
extent_allocator_largest(const struct extent_allocator *allocator); /* of the free ranges */
uint32_t extent_allocator_free_count(const struct extent_allocator *allocator);

#endif
