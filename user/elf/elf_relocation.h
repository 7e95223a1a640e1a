/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the relocation of an address. */
#ifndef PKBPF_ELF_ELF_RELOCATION_H
#define PKBPF_ELF_ELF_RELOCATION_H

#include "elf/elf_file.h"

/* Which of the relocation tables are read: those for a section of their own, as .rela.plt, or the
 * others. */
enum elf_relocation_tables {
	ELF_RELOCATIONS_WITH_TARGET,
	ELF_RELOCATIONS_WITHOUT_TARGET,
};

/* The relocation at an address as linked, of a 64-bit file; false: none. */
bool elf_relocation_find(const struct elf_file *file, enum elf_relocation_tables tables,
			 uint64_t address, Elf64_Rela *ret_relocation);

/* Calls take with each relocation, of a 64-bit file, until it returns true; with up to 4 M of
 * them. */
void elf_relocation_each(const struct elf_file *file, enum elf_relocation_tables tables,
			 bool (*take)(void *context, const Elf64_Rela *relocation), void *context);

#endif
