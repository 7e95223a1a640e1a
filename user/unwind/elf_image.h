/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bounded view of a 64-bit little-endian ELF executable, library or vdso.
 *
 * The bytes come from whoever runs on the machine: every offset and size is checked before use, and
 * a file is read with pread(), not mapped, because a mapped file that its owner truncates kills the
 * reader with SIGBUS.
 */
#ifndef PKBPF_UNWIND_ELF_IMAGE_H
#define PKBPF_UNWIND_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct elf_image;

/* How the bytes of a memory image are arranged. */
enum elf_image_layout {
	ELF_IMAGE_FILE,	  /* as in the file: a vdso, a file read whole */
	ELF_IMAGE_LOADED, /* as mapped by the kernel, from the lowest PT_LOAD on: no sections */
};

struct elf_segment {
	uint64_t offset;
	uint64_t file_size;
	uint64_t address;
	uint64_t memory_size;
	uint32_t type;
	uint32_t flags;
};

struct elf_section {
	uint64_t address;
	uint64_t offset;
	uint64_t size;
	uint64_t flags;
	uint32_t type;
	uint32_t link; /* index of the string table of a symbol table */
};

/* More program headers or sections than these: the surplus is not seen. */
#define ELF_IMAGE_MAX_SEGMENTS 512
#define ELF_IMAGE_MAX_SECTIONS 4096

/* ET_EXEC and ET_DYN of x86-64 and arm64; anything else gives -ENOEXEC. The fd is duplicated. */
int elf_image_open(int fd, struct elf_image **ret_image, struct error *error);
/* The bytes are borrowed until elf_image_free(). */
int elf_image_open_memory(const void *data, size_t size, enum elf_image_layout layout,
			  struct elf_image **ret_image, struct error *error);
void elf_image_free(struct elf_image *image);

uint16_t elf_image_machine(const struct elf_image *image); /* EM_X86_64 or EM_AARCH64 */
uint64_t elf_image_entry(const struct elf_image *image);
/* When its file was last written; 0: memory. What is read later may be another program. */
uint64_t elf_image_written_ns(const struct elf_image *image);
uint64_t elf_image_size(const struct elf_image *image); /* bytes behind the view */
size_t
elf_image_kept_bytes(const struct elf_image *image); /* in our memory, for as long as it is open */
size_t elf_image_segment_count(const struct elf_image *image);
const struct elf_segment *elf_image_segment(const struct elf_image *image, size_t index);
/* First segment of a type; NULL when absent. */
const struct elf_segment *elf_image_find_segment(const struct elf_image *image, uint32_t type);

size_t elf_image_section_count(const struct elf_image *image);
/* By name, only sections with bytes in the file (SHT_NOBITS counts as absent). */
bool elf_image_find_section(const struct elf_image *image, const char *name,
			    struct elf_section *ret_section);
bool elf_image_section_at(const struct elf_image *image, size_t index,
			  struct elf_section *ret_section);
/* Whole section to the heap, zlib-compressed ones inflated; -EFBIG beyond max_size. Caller frees.
 */
int elf_image_load_section(const struct elf_image *image, const struct elf_section *section,
			   size_t max_size, uint8_t **ret_data, size_t *ret_size);

/* Exactly size bytes at a file position or 0 < -errno; -ERANGE when not all of them exist. */
int elf_image_read(const struct elf_image *image, uint64_t offset, void *buffer, size_t size);
/* The same by ELF address, within the file-backed part of one PT_LOAD. */
int elf_image_read_address(const struct elf_image *image, uint64_t address, void *buffer,
			   size_t size);
/* File-backed bytes from an ELF address to the end of its PT_LOAD; 0: not file-backed. */
uint64_t elf_image_bytes_after(const struct elf_image *image, uint64_t address);

enum elf_role {
	ELF_ROLE_PROGRAM, /* dynamically linked */
	ELF_ROLE_STATIC_PROGRAM,
	ELF_ROLE_C_LIBRARY, /* or its dynamic loader */
	ELF_ROLE_LIBRARY,
};

/* By what the dynamic loader reads, not by the file's name. */
enum elf_role elf_image_role(const struct elf_image *image);
/* DT_SONAME, cut to size - 1 bytes; "" when the file has none. */
void elf_image_soname(const struct elf_image *image, char *buffer, size_t size);

/* The address to subtract from a process address to get an ELF address, for an executable mapping
 * that starts at map_start and shows the file from map_offset on. false: no executable PT_LOAD is
 * there. */
bool elf_image_bias(const struct elf_image *image, uint64_t map_start, uint64_t map_offset,
		    uint64_t *ret_bias);

#endif
