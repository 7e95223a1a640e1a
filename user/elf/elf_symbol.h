/* SPDX-License-Identifier: BSD-2-Clause */
/* Iterates over an ELF symbol table, in files of either class. */
#ifndef PKBPF_ELF_ELF_SYMBOL_H
#define PKBPF_ELF_ELF_SYMBOL_H

#include "elf/elf_file.h"

/* Compressed tables are unpacked as a whole, and strings are kept with the symbols of their file:
 * no more than MINI_DEBUGINFO_MAX_BYTES, as both can be made of a thousandth of it. */
#define ELF_SYMBOL_MAX_UNPACKED_BYTES (64U << 20)

struct elf_symbol {
	uint32_t name; /* where in the strings */
	uint8_t type, binding;
	uint16_t section; /* SHN_UNDEF: of another file */
	uint64_t address, size;
};

/* A string table in the file, or in memory. */
struct elf_strings {
	uint64_t offset, size;
	void *unpacked; /* NULL: in the file */
};

struct elf_symbol_reader {
	struct elf_file bytes; /* what the table is read from; borrowed but for unpacked */
	uint64_t offset, count, next;
	struct elf_strings strings;
	void *unpacked, *buffer;
	uint64_t buffer_size, buffer_first, buffer_count; /* in symbols */
	int err; /* why there is no next symbol; 0: that was the last one */
};

/* type: SHT_SYMTAB or SHT_DYNSYM. -ENOENT: no such table; -EFBIG, -EBADMSG, -ENOMEM, …: it is
 * compressed, and cannot be unpacked. Where it has no strings, theirs are of size 0. The file must
 * stay open. */
int elf_symbol_reader_open(const struct elf_file *file, uint32_t type,
			   struct elf_symbol_reader *ret_reader);
/* The symbol with number reader->next, which moves on. */
bool elf_symbol_reader_next(struct elf_symbol_reader *reader, struct elf_symbol *ret_symbol);
void elf_symbol_reader_close(struct elf_symbol_reader *reader);

/* Reads them into memory, for a caller who needs many. -EFBIG beyond max_size. */
int elf_strings_load(struct elf_strings *strings, const struct elf_file *file, size_t max_size);
/* The string at offset, cut to size - 1 bytes. */
int elf_strings_read(const struct elf_strings *strings, const struct elf_file *file,
		     uint64_t offset, char *buffer, size_t size);

#endif
