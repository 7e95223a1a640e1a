/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbolizes addresses of mapped files by symbol tables, debug files and DWARF. */
#ifndef PKBPF_SYMBOL_ELF_ELF_H
#define PKBPF_SYMBOL_ELF_ELF_H

#include "base/string_pool.h"
#include "symbol/elf/elf_files.h"
#include "symbol/symbolizer.h"

/* Descriptors of separate debug files kept open; files beyond that are named from their own tables
 * alone. */
#define ELF_MAX_DEBUG_FILES 256

/* Borrows options, the context of files and strings; they outlive the symbolizer. */
struct symbolizer *elf_symbolizer_new(const struct symbolizer_options *options,
				      const struct elf_files *files, struct string_pool *strings);
/* Why names in this file are not as good as they could be; until the next call. NULL: they are. */
const char *elf_symbolizer_missing(struct symbolizer *symbolizer, uint32_t id);

#endif
