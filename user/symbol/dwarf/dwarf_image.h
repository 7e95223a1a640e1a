/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug sections that libdw reads. It gets them as an ELF image that we make in memory, of the
 * sections that are needed alone: unpacked, bounded, each with a NUL behind it. So it sees nothing
 * of a hostile file's headers, opens and maps nothing itself, and no name can be read beyond the
 * end of its section, where libdw 0.188 does not look.
 */
#ifndef PKBPF_SYMBOL_DWARF_DWARF_IMAGE_H
#define PKBPF_SYMBOL_DWARF_DWARF_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "elf/elf_file.h"

/* Debug sections are read into memory as a whole, unpacked. */
#define DWARF_IMAGE_MAX_BYTES (512ULL << 20)

enum dwarf_section {
	DWARF_SECTION_INFO,
	DWARF_SECTION_TYPES,
	DWARF_SECTION_ABBREV,
	DWARF_SECTION_STR,
	DWARF_SECTION_LINE_STR,
	DWARF_SECTION_STR_OFFSETS,
	DWARF_SECTION_ADDR,
	DWARF_SECTION_RANGES,
	DWARF_SECTION_RNGLISTS,
	DWARF_SECTION_LINE,
	DWARF_SECTION_COUNT,
};

/* Where the bytes of a section come from: a part of a section, as it is unpacked, of a file; or
 * memory. All zero: there is none. */
struct dwarf_source {
	const struct elf_section *section; /* of the file */
	const uint8_t *bytes;
	uint64_t offset, size;
};

/* A section in memory. */
struct memory_range {
	const uint8_t *start, *end;
};

struct dwarf_image {
	void *bytes; /* owned */
	Elf *elf;
	Dwarf *dwarf;
	struct memory_range sections[DWARF_SECTION_COUNT];
};

/* ".debug_info" + suffix, or as it was named when packed by older tools. suffix: "" or ".dwo".
 * Without one the source is all zero. */
struct dwarf_source dwarf_source_find(const struct elf_file *file, enum dwarf_section kind,
				      const char *suffix);
/* All of a file; with_lines: line programs, which are large, too. */
void dwarf_sources_of_file(const struct elf_file *file, bool with_lines,
			   struct dwarf_source ret_sources[DWARF_SECTION_COUNT]);
/* What they take in memory. UINT64_MAX: more than DWARF_IMAGE_MAX_BYTES. */
uint64_t dwarf_sources_bytes(const struct dwarf_source sources[DWARF_SECTION_COUNT]);

/* -EFBIG, -EBADMSG: damaged; -EOPNOTSUPP: packed in an unknown way; -ENOMEM, -EIO. The file is not
 * needed afterwards. */
int dwarf_image_open(struct dwarf_image *image, const struct elf_file *file,
		     const struct dwarf_source sources[DWARF_SECTION_COUNT]);
/* Also of one that is all zero. */
void dwarf_image_done(struct dwarf_image *image);

static inline uint64_t memory_range_size(const struct memory_range *range)
{
	return (uint64_t)(range->end - range->start);
}

#endif
