/* SPDX-License-Identifier: BSD-2-Clause */
/* Packed sections: SHF_COMPRESSED with zlib or zstd, and the older .zdebug_* with zlib. */
#ifndef PKBPF_ELF_ELF_PACKING_H
#define PKBPF_ELF_ELF_PACKING_H

#include "elf/elf_file.h"

enum elf_packing_kind {
	ELF_PACKING_NONE,
	ELF_PACKING_ZLIB,
	ELF_PACKING_ZSTD,
	ELF_PACKING_UNKNOWN,
};

struct elf_packing {
	enum elf_packing_kind kind;
	size_t header_size; /* before the packed bytes */
	uint64_t size;	    /* unpacked, as the section says */
};

/* false: the section's header is damaged. */
bool elf_packing_read(const struct elf_file *file, const struct elf_section *section,
		      struct elf_packing *ret);
/* Whether so few packed bytes can hold what the section says: its size is what we allocate. */
bool elf_packing_is_possible(const struct elf_packing *packing, uint64_t packed_size);
/* packed: the section with its header; to: room for packing->size. -EBADMSG: damaged; -EOPNOTSUPP:
 * packed by something else than zlib or zstd. */
int elf_packing_unpack(const struct elf_packing *packing, const void *packed, size_t packed_size,
		       void *to);

#endif
