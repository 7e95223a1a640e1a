/* SPDX-License-Identifier: BSD-2-Clause */
/* The segments of an ELF file: from positions in the file to addresses as linked, and back. */
#ifndef PKBPF_ELF_ELF_SEGMENT_H
#define PKBPF_ELF_ELF_SEGMENT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No sum of a position and a size of it wraps, but nothing is compared with the file's size. */
struct elf_segment {
	uint32_t type;
	uint32_t flags;
	uint64_t offset;
	uint64_t address;
	uint64_t file_size;
	uint64_t memory_size;
};

struct elf_segments {
	struct elf_segment *items;
	size_t count;
	bool is_fixed; /* they are mapped where they were linked (ET_EXEC) */
};

static inline bool elf_segment_is_code(const struct elf_segment *segment)
{
	return segment->type == PT_LOAD && (segment->flags & PF_X);
}

/* First segment of a type; NULL: none. */
const struct elf_segment *elf_segments_find(const struct elf_segments *segments, uint32_t type);
/* Address, as linked, of the byte at a position in the file; executable segments win. false: in no
 * loaded segment. */
bool elf_segments_address(const struct elf_segments *segments, uint64_t offset,
			  uint64_t *ret_address);
/* Where in the file the byte at an address as linked lies, and how many bytes of its segment there
 * are from it on. */
bool elf_segments_offset(const struct elf_segments *segments, uint64_t address,
			 uint64_t *ret_offset, uint64_t *ret_size);
/* Does a writable segment at a lower address have the page of the file with this byte, too? A seam
 * of two segments without padding (lld) is mapped twice. */
bool elf_segments_page_is_shared(const struct elf_segments *segments, uint64_t address);
/* The load bias, which is to be subtracted from an address of a process to get the one as linked,
 * for an executable mapping that shows the file from map_offset on. Of two executable segments in
 * its first page it belongs to the one that is linked there, or has as many pages. false: no
 * executable segment is there. */
bool elf_segments_bias(const struct elf_segments *segments, uint64_t map_start, uint64_t map_end,
		       uint64_t map_offset, uint64_t *ret_bias);

#endif
