/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of variables of a mapped file: which one an address of a process lies in. */
#ifndef PKBPF_SYMBOL_ELF_DATA_SYMBOLS_H
#define PKBPF_SYMBOL_ELF_DATA_SYMBOLS_H

#include "elf/elf_file.h"
#include "symbol/elf/elf_symbols.h"

/* Of a name with its NUL. */
#define DATA_NAME_SIZE 128

/* An address of a process, and a mapping of code of the file whose data it may lie in. */
struct data_place {
	uint64_t map_start, map_end, map_offset; /* bytes */
	uint64_t address;
};

struct data_symbols {
	struct elf_segments segments;
	struct elf_symbols symbols; /* empty where the file has none */
	bool has_symbols;
};

/* fd: borrowed, for the call. -ENOEXEC, -EIO, -ENOMEM …: no ELF file that can be read. A file
 * without symbols is fine, and names nothing. One owner thread, as all below. */
int data_symbols_read(struct data_symbols *symbols, int fd);
/* "cache_lock", or "config+0x18" inside of it, demangled, cut to size - 1 bytes, not escaped. fd:
 * the same file. -ENOENT: not in its data, or in no variable with a symbol. */
int data_symbols_name(const struct data_symbols *symbols, int fd, const struct data_place *place,
		      char *text, size_t size);
void data_symbols_done(struct data_symbols *symbols);

#endif
