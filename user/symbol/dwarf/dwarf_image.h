/* SPDX-License-Identifier: BSD-2-Clause */
/* A file whose DWARF libdw reads, checked for what libdw does not bound. */
#ifndef PKBPF_SYMBOL_DWARF_DWARF_IMAGE_H
#define PKBPF_SYMBOL_DWARF_DWARF_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "base/array.h"
#include "elf/elf_file.h"

/* Debug sections are read into memory as a whole, unpacked. */
#define DWARF_IMAGE_MAX_BYTES (512ULL << 20)

/* A section, unpacked, or what names are in. */
struct memory_range {
	const char *start, *end;
};

struct dwarf_image {
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	ARRAY_OF(struct memory_range) names;
	struct memory_range abbreviations, line_programs;
};

struct dwarf_image dwarf_image_none(void);
void dwarf_image_done(struct dwarf_image *image);

/* What the sections that are needed take in memory; with_lines: those of lines, which are large,
 * too. UINT64_MAX: more than DWARF_IMAGE_MAX_BYTES. */
uint64_t dwarf_image_bytes(const struct elf_file *file, bool with_lines);

/* Takes fd over, also when it fails: damaged, or out of memory. */
bool dwarf_image_open(struct dwarf_image *image, int fd, bool with_lines);

/* Whether a name that libdw gave is one of the image's, and ends where the section ends that it is
 * in. */
bool dwarf_image_name_ends(const struct dwarf_image *image, const char *name);

#endif
