/* SPDX-License-Identifier: BSD-2-Clause */
/* The code symbols, or variables, of one ELF symbol table (.symtab or .dynsym) and their names. */
#ifndef PKBPF_SYMBOL_ELF_ELF_SYMBOLS_H
#define PKBPF_SYMBOL_ELF_ELF_SYMBOLS_H

#include "elf/elf_symbol.h"
#include "symbol/symbol_table.h"

/* Longer names are cut; C++ names of ten kilobytes exist, nobody reads them. */
#define ELF_SYMBOL_NAME_SIZE 8193

struct elf_symbols {
	struct symbol_table table; /* addresses as linked */
	struct elf_strings names;
	bool is_cut; /* there are more symbols than a table holds */
};

/* type: SHT_SYMTAB or SHT_DYNSYM. -ENOENT: no such table, or no code symbol in it; -ENOEXEC, -EIO,
 * -ENOMEM. */
int elf_symbols_read(const struct elf_file *file, uint32_t type, struct elf_symbols *ret_symbols);
/* The same of its variables. */
int elf_symbols_read_data(const struct elf_file *file, uint32_t type,
			  struct elf_symbols *ret_symbols);
void elf_symbols_done(struct elf_symbols *symbols);

/*
 * Name of the symbol that covers address, best alias first, without "@VERSION", read from the file
 * now; file needs no sections for that. -ENOENT: none covers it. *ret_start: where the symbol
 * begins.
 */
int elf_symbols_find(const struct elf_symbols *symbols, const struct elf_file *file,
		     uint64_t address, char *name, size_t name_size, uint64_t *ret_start);

#endif
