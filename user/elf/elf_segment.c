// SPDX-License-Identifier: BSD-2-Clause
/* Looks positions and addresses up in segments. */
#include "elf/elf_segment.h"

#include <unistd.h>

const struct elf_segment *elf_segments_find(const struct elf_segments *segments, uint32_t type)
{
	for (size_t i = 0; i < segments->count; i++)
		if (segments->items[i].type == type)
			return &segments->items[i];
	return NULL;
}

bool elf_segments_address(const struct elf_segments *segments, uint64_t offset,
			  uint64_t *ret_address)
{
	bool found = false;

	for (size_t i = 0; i < segments->count; i++) {
		const struct elf_segment *segment = &segments->items[i];

		if (segment->type != PT_LOAD || offset < segment->offset ||
		    offset - segment->offset >= segment->file_size)
			continue;
		/* Pages at the seam of two segments belong to both; code is only in the executable
		 * one. */
		if (found && !(segment->flags & PF_X))
			continue;
		*ret_address = segment->address + (offset - segment->offset);
		found = true;
		if (segment->flags & PF_X)
			break;
	}
	return found;
}

bool elf_segments_offset(const struct elf_segments *segments, uint64_t address,
			 uint64_t *ret_offset, uint64_t *ret_size)
{
	for (size_t i = 0; i < segments->count; i++) {
		const struct elf_segment *segment = &segments->items[i];

		if (segment->type == PT_LOAD && address >= segment->address &&
		    address - segment->address < segment->file_size) {
			*ret_offset = segment->offset + (address - segment->address);
			*ret_size = segment->file_size - (address - segment->address);
			return true;
		}
	}
	return false;
}

bool elf_segments_page_is_shared(const struct elf_segments *segments, uint64_t address)
{
	uint64_t page_mask = (uint64_t)sysconf(_SC_PAGESIZE) - 1, offset, left;

	if (!elf_segments_offset(segments, address, &offset, &left))
		return false;
	for (size_t i = 0; i < segments->count; i++) {
		const struct elf_segment *segment = &segments->items[i];
		uint64_t start = segment->offset & ~page_mask;
		uint64_t end = (segment->offset + segment->file_size + page_mask) & ~page_mask;

		if (segment->type == PT_LOAD && (segment->flags & PF_W) && segment->file_size &&
		    segment->address + segment->file_size <= address && offset >= start &&
		    offset < end)
			return true;
	}
	return false;
}

bool elf_segments_bias(const struct elf_segments *segments, uint64_t map_start, uint64_t map_end,
		       uint64_t map_offset, uint64_t *ret_bias)
{
	/* The kernel maps whole pages of its own size: 64 KiB on some arm64 systems. */
	uint64_t page_mask = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
	unsigned int best = 0;

	for (size_t i = 0; i < segments->count; i++) {
		const struct elf_segment *segment = &segments->items[i];
		uint64_t start = segment->offset & ~page_mask;
		uint64_t end = (segment->offset + segment->file_size + page_mask) & ~page_mask;
		uint64_t bias = map_start - (map_offset - segment->offset + segment->address);
		unsigned int rank = 1;

		/* Two segments may share a file page (lld); only executable ones count. */
		if (!elf_segment_is_code(segment) || map_offset < start || map_offset >= end)
			continue;
		if (segments->is_fixed && bias == 0)
			rank = 3;
		else if (map_offset == start && map_end - map_start == end - start)
			rank = 2;
		if (rank > best) {
			best = rank;
			*ret_bias = bias;
		}
	}
	return best;
}
