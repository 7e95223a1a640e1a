/* SPDX-License-Identifier: BSD-2-Clause */
/* The build id of an ELF file: the GNU note by which a separate debug file is found. */
#ifndef PKBPF_ELF_BUILD_ID_H
#define PKBPF_ELF_BUILD_ID_H

#include "elf/elf_file.h"

/* Linkers write 16 or 20 bytes; --build-id=0x… may write any number. */
#define BUILD_ID_MAX_BYTES 64
#define BUILD_ID_HEX_SIZE  (2 * BUILD_ID_MAX_BYTES + 1)

struct build_id {
	uint8_t bytes[BUILD_ID_MAX_BYTES];
	size_t size; /* 0: none */
};

/* -ENOENT: the file has none. Note sections first, then note segments. */
int build_id_read(const struct elf_file *file, struct build_id *ret_id);
/* Searches one block of notes. */
bool build_id_find_in_notes(const void *notes, size_t size, struct build_id *ret_id);
/* Lower-case hex; text has room for BUILD_ID_HEX_SIZE. */
void build_id_format(const struct build_id *id, char *text);
bool build_id_equal(const struct build_id *a, const struct build_id *b);

#endif
