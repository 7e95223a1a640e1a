// SPDX-License-Identifier: BSD-2-Clause
/* Unpacks sections, without believing what they say about their size. */
#include "elf/elf_packing.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* deflate cannot do better than 1032:1; zstd has blocks of 128 KiB in four bytes. A larger claim is
 * a lie told to make us allocate. */
#define MAX_ZLIB_RATIO 1032
#define MAX_ZSTD_RATIO (128U << 10)

/* "ZLIB" and the unpacked size, most significant byte first. */
struct gnu_header {
	char magic[4];
	uint8_t size[8];
};

static bool read_gnu_packing(const struct elf_file *file, const struct elf_section *section,
			     struct elf_packing *ret)
{
	struct gnu_header header;
	uint64_t size;

	if (section->size < sizeof(header) ||
	    elf_file_read(file, section->offset, &header, sizeof(header)) ||
	    memcmp(header.magic, "ZLIB", sizeof(header.magic)) != 0)
		return false;
	memcpy(&size, header.size, sizeof(size));
	*ret = (struct elf_packing){ELF_PACKING_ZLIB, sizeof(header), be64toh(size)};
	return true;
}

static enum elf_packing_kind kind_of(uint32_t type)
{
	switch (type) {
	case ELFCOMPRESS_ZLIB:
		return ELF_PACKING_ZLIB;
	case ELFCOMPRESS_ZSTD:
		return ELF_PACKING_ZSTD;
	default:
		return ELF_PACKING_UNKNOWN;
	}
}

bool elf_packing_read(const struct elf_file *file, const struct elf_section *section,
		      struct elf_packing *ret)
{
	size_t header_size = file->is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	Elf64_Chdr wide;
	Elf32_Chdr narrow;

	*ret = (struct elf_packing){.size = section->size};
	if (section->name && strncmp(section->name, ".zdebug_", 8) == 0)
		return read_gnu_packing(file, section, ret);
	if (!(section->flags & SHF_COMPRESSED))
		return true;
	if (section->size < header_size ||
	    elf_file_read(file, section->offset, file->is_64 ? (void *)&wide : &narrow,
			  header_size))
		return false;
	*ret = file->is_64
		       ? (struct elf_packing){kind_of(wide.ch_type), header_size, wide.ch_size}
		       : (struct elf_packing){kind_of(narrow.ch_type), header_size, narrow.ch_size};
	return true;
}

bool elf_packing_is_possible(const struct elf_packing *packing, uint64_t packed_size)
{
	switch (packing->kind) {
	case ELF_PACKING_ZLIB:
		return packing->size / MAX_ZLIB_RATIO <= packed_size;
	case ELF_PACKING_ZSTD:
		return packing->size / MAX_ZSTD_RATIO <= packed_size;
	default:
		return true;
	}
}

int elf_packing_unpack(const struct elf_packing *packing, const void *packed, size_t packed_size,
		       void *to)
{
	const uint8_t *bytes = (const uint8_t *)packed + packing->header_size;
	size_t size = packed_size - packing->header_size, done;
	uLongf zlib_done = packing->size;

	switch (packing->kind) {
	case ELF_PACKING_NONE:
		memcpy(to, bytes, packing->size);
		return 0;
	case ELF_PACKING_ZLIB:
		return uncompress(to, &zlib_done, bytes, size) == Z_OK && zlib_done == packing->size
			       ? 0
			       : -EBADMSG;
	case ELF_PACKING_ZSTD:
		done = ZSTD_decompress(to, packing->size, bytes, size);
		return !ZSTD_isError(done) && done == packing->size ? 0 : -EBADMSG;
	case ELF_PACKING_UNKNOWN:
		break;
	}
	return -EOPNOTSUPP;
}
