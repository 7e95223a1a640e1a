/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads memory of a copied stack, in which unreadable pages are missing. */
#ifndef PKBPF_EVENT_RAW_STACK_H
#define PKBPF_EVENT_RAW_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct raw_stack_extent {
	uint64_t start; /* address */
	size_t size;	/* bytes of the copy */
	uint64_t holes; /* as in struct raw_stack_view */
};

enum raw_stack_place {
	RAW_STACK_COPIED,
	RAW_STACK_NOT_READABLE, /* below the copy, or in a page that could not be read */
	RAW_STACK_BEYOND,	/* beyond its end */
};

/* Finds `size` bytes (at most a page) at an address in the copy; ret_offset is set only for
 * RAW_STACK_COPIED. The extent may have any values. */
enum raw_stack_place raw_stack_find(const struct raw_stack_extent *extent, uint64_t address,
				    size_t size, size_t *ret_offset);

#endif
