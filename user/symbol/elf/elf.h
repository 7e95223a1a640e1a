/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbolizes addresses of mapped files by symbol tables, debug files and DWARF. */
#ifndef PKBPF_SYMBOL_ELF_ELF_H
#define PKBPF_SYMBOL_ELF_ELF_H

#include "base/string_pool.h"
#include "symbol/symbolizer.h"

/* Descriptors of separate debug files kept open; files beyond that are named from their own tables
 * alone. */
#define ELF_MAX_DEBUG_FILES 256

/* Borrows options, files and strings; they outlive the symbolizer. */
struct symbolizer *elf_symbolizer_new(const struct symbolizer_options *options,
				      struct mapped_file_table *files, struct string_pool *strings);

#endif
