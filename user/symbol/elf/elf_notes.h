/* SPDX-License-Identifier: BSD-2-Clause */
/* What people should know about names of a file. */
#ifndef PKBPF_SYMBOL_ELF_ELF_NOTES_H
#define PKBPF_SYMBOL_ELF_ELF_NOTES_H

#include <stdbool.h>

#include "symbol/elf/debug_file.h"
#include "symbol/symbol_notes.h"

/* missing: as elf_symbolizer_missing() has it. */
void elf_notes_missing(struct symbol_notes *notes, const char *path, const char *missing);
/* Addresses of the file with this base name could have names: a C library can be helped. */
void elf_notes_unresolved(struct symbol_notes *notes, const char *name,
			  const struct debug_file_search *search, bool asks_servers);

#endif
