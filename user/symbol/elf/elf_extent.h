/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far a symbol without a size reaches where most functions of a file have no symbol.
 *
 * Assembly often has no sizes (x264's), and a library's .dynsym names only what it exports:
 * reaching to the next symbol, one function's name would stand for a hundred unresolved ones behind
 * it.
 */
#ifndef PKBPF_SYMBOL_ELF_ELF_EXTENT_H
#define PKBPF_SYMBOL_ELF_ELF_EXTENT_H

#include "elf/elf_file.h"
#include "elf/elf_functions.h"
#include "symbol/symbol_table.h"

/*
 * Lets the symbols of a finished table whose size is a guess end where the function around them
 * ends or the next one begins, as far as unwind information tells; where it covers none of them,
 * behind a return that padding follows and no jump leads across, or after 64 KiB. Symbols at the
 * first 4,096 addresses of a file, and 4 MiB of its text; the others reach as far as they did.
 */
void elf_extent_bound(struct symbol_table *table, struct elf_functions *functions,
		      const struct elf_file *file);

#endif
