/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds a symbol of the interpreter by its name. */
#ifndef PKBPF_PYTHON_PYTHON_SYMBOL_H
#define PKBPF_PYTHON_PYTHON_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_symbol.h"

/* type: STT_OBJECT, STT_FUNC. Looks at symbols of at least min_size bytes that the file defines.
 * false: there is none. name: at most 31 characters. */
bool python_symbol_find(const struct elf_file *file, uint8_t type, const char *name,
			uint64_t min_size, struct elf_symbol *ret_symbol);

#endif
