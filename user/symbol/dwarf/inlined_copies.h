/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds functions that compilers have copied into their callers. */
#ifndef PKBPF_SYMBOL_DWARF_INLINED_COPIES_H
#define PKBPF_SYMBOL_DWARF_INLINED_COPIES_H

#include "elf/elf_file.h"
#include "elf/inlined_functions.h"
#include "symbol/dwarf/dwarf_budget.h"

/* Finds the copies of the functions that are meant, in the DWARF of the file itself. Without any
 * there are none. -ETIME: more than the budget allows; some are found. -ENOMEM, and what
 * dwarf_image_open() says. */
int inlined_copies_find(const struct elf_file *file, struct dwarf_budget *budget,
			inlined_judge *is_meant, void *context,
			struct inlined_functions *functions);

#endif
