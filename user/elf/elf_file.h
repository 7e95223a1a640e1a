/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The outer shape of an ELF file: its sections and segments, every number checked against the
 * file's size.
 *
 * Contents are copied out with pread, never mapped: whoever owns the file may truncate it at any
 * moment, and a mapped page beyond the new end would kill us with SIGBUS. Reads that come up short
 * are errors like any other.
 */
#ifndef PKBPF_ELF_ELF_FILE_H
#define PKBPF_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_segment.h"

/* Real files have dozens of sections and segments; -ffunction-sections executables stay far below
 * as well. */
#define ELF_FILE_MAX_SECTIONS 65536
#define ELF_FILE_MAX_SEGMENTS 1024
/* Section names beyond this many bytes read as "". */
#define ELF_FILE_MAX_NAME_BYTES (1U << 20)

struct elf_section {
	const char *name; /* never NULL */
	uint32_t type;
	uint32_t link, info;
	uint64_t flags;
	uint64_t address;
	uint64_t offset;
	uint64_t size; /* offset + size lies inside the file, unless type is SHT_NOBITS */
	uint64_t entry_size;
};

struct elf_file {
	int fd;		       /* borrowed; -1 when the image is in memory */
	const uint8_t *memory; /* borrowed; NULL when there is a descriptor */
	uint64_t size;
	bool is_64;
	uint16_t type;
	uint16_t machine;
	uint64_t entry;
	struct elf_segments segments;
	struct elf_section *sections;
	size_t section_count;
	char *names;
	size_t names_size;
};

/*
 * -ENOEXEC: not an ELF file of this machine's byte order, or nonsense inside. -EIO and others:
 * reading failed, which may be different the next time. A file whose section headers are damaged
 * opens without sections.
 */
int elf_file_open(struct elf_file *file, int fd);
int elf_file_open_memory(struct elf_file *file, const void *memory, size_t size);
void elf_file_done(struct elf_file *file);

/* Bytes in memory that elf_file_read() and what is built upon it can read from; no more than
 * that. */
static inline struct elf_file elf_file_of_bytes(const void *memory, size_t size)
{
	return (struct elf_file){.fd = -1, .memory = memory, .size = size};
}

/* All `size` bytes at offset or -EIO. */
int elf_file_read(const struct elf_file *file, uint64_t offset, void *buffer, size_t size);
/* The same by address as linked, within what one PT_LOAD has in the file. */
int elf_file_read_address(const struct elf_file *file, uint64_t address, void *buffer, size_t size);
/* Bytes in the file from an address as linked to the end of its PT_LOAD; 0: none. */
uint64_t elf_file_bytes_after(const struct elf_file *file, uint64_t address);

/* A heap copy of the section, unpacked if need be, with a NUL behind it. -EFBIG beyond max_size,
 * -ENODATA for SHT_NOBITS, -EBADMSG: damaged; -EOPNOTSUPP: packed by something else than zlib or
 * zstd. */
int elf_file_read_section(const struct elf_file *file, const struct elf_section *section,
			  size_t max_size, void **ret_data, size_t *ret_size);
/* Bytes the section has unpacked; UINT64_MAX: it says nonsense. */
uint64_t elf_file_unpacked_size(const struct elf_file *file, const struct elf_section *section);
/* The NUL-terminated string at offset within the section, cut to size - 1 bytes. */
int elf_file_read_string(const struct elf_file *file, uint64_t section_offset,
			 uint64_t section_size, uint64_t offset, char *buffer, size_t size);

/* NULL also where it has no bytes in the file. */
const struct elf_section *elf_file_section(const struct elf_file *file, size_t index);
const struct elf_section *elf_file_find_section(const struct elf_file *file, const char *name);
const struct elf_section *elf_file_find_section_type(const struct elf_file *file, uint32_t type);

#endif
