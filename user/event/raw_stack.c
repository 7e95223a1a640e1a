// SPDX-License-Identifier: BSD-2-Clause
#include "event/raw_stack.h"

#include <pkbpf/event.h>

static bool find_byte(const struct raw_stack_extent *extent, uint64_t address, uint64_t *ret_offset)
{
	uint64_t page = address / PKBPF_RAW_PAGE_BYTES - extent->start / PKBPF_RAW_PAGE_BYTES;
	uint64_t below =
		page < PKBPF_RAW_SPAN_PAGES ? extent->holes & ((1ULL << page) - 1) : extent->holes;

	*ret_offset = address - extent->start -
		      (uint64_t)__builtin_popcountll(below) * PKBPF_RAW_PAGE_BYTES;
	return page >= PKBPF_RAW_SPAN_PAGES || !(extent->holes >> page & 1);
}

enum raw_stack_place raw_stack_find(const struct raw_stack_extent *extent, uint64_t address,
				    size_t size, size_t *ret_offset)
{
	uint64_t first, last;

	if (!size || address < extent->start || address > UINT64_MAX - size)
		return RAW_STACK_NOT_READABLE;
	if (!find_byte(extent, address, &first) || !find_byte(extent, address + size - 1, &last))
		return RAW_STACK_NOT_READABLE;
	if (last >= extent->size)
		return RAW_STACK_BEYOND;
	/* Holes in the page of the start or between the two pages: no writer makes these. */
	if (first > last || last - first != size - 1)
		return RAW_STACK_NOT_READABLE;
	*ret_offset = (size_t)first;
	return RAW_STACK_COPIED;
}
