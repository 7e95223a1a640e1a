/* SPDX-License-Identifier: BSD-2-Clause */
/* The dynamic section of a file (PT_DYNAMIC), which files without sections have, too. */
#ifndef PKBPF_ELF_ELF_DYNAMIC_H
#define PKBPF_ELF_ELF_DYNAMIC_H

#include "elf/elf_file.h"

struct elf_dynamic {
	uint64_t values[DT_NUM]; /* by tag; addresses as linked; 0: it does not say */
	uint64_t gnu_hash;
};

/* false: not dynamically linked. */
bool elf_dynamic_read(const struct elf_file *file, struct elf_dynamic *ret_dynamic);
/* Symbols in its table, by either of the tables that hash them; 0: not known. */
uint64_t elf_dynamic_symbol_count(const struct elf_file *file, const struct elf_dynamic *dynamic);

#endif
