/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds a HotSpot JVM in an ELF file: the exported tables that describe its structures. */
#ifndef PKBPF_HOTSPOT_HOTSPOT_IMAGE_H
#define PKBPF_HOTSPOT_HOTSPOT_IMAGE_H

#include <stdint.h>

struct elf_file;

/* Exported words, each of 8 bytes in the memory of a process. */
enum hotspot_word {
	HOTSPOT_STRUCTS, /* pointer to the first entry */
	HOTSPOT_STRUCTS_STRIDE,
	HOTSPOT_STRUCT_TYPE, /* offsets in an entry … */
	HOTSPOT_STRUCT_FIELD,
	HOTSPOT_STRUCT_DECLARATION, /* type of the field */
	HOTSPOT_STRUCT_IS_STATIC,
	HOTSPOT_STRUCT_OFFSET,
	HOTSPOT_STRUCT_ADDRESS,
	HOTSPOT_TYPES,
	HOTSPOT_TYPES_STRIDE,
	HOTSPOT_TYPE_NAME,
	HOTSPOT_TYPE_SIZE,
	HOTSPOT_INTS,
	HOTSPOT_INTS_STRIDE,
	HOTSPOT_INT_NAME,
	HOTSPOT_INT_VALUE,
	HOTSPOT_WORDS,
};

struct hotspot_image {
	uint64_t words[HOTSPOT_WORDS]; /* addresses as linked */
};

/* -ENOENT: the file has no HotSpot JVM, or not all of its tables. One owner thread. */
int hotspot_image_find(const struct elf_file *file, struct hotspot_image *ret_image);

#endif
