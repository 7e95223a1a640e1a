/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far a symbol without a size reaches where most functions of a file have no symbol.
 *
 * Assembly often has no sizes (x264's), and a library's .dynsym names only what it exports:
 * reaching to the next symbol, one function's name would stand for a hundred nameless ones behind
 * it.
 */
#ifndef PKBPF_SYMBOL_ELF_EXTENT_H
#define PKBPF_SYMBOL_ELF_EXTENT_H

#include "symbol/elf_file.h"
#include "symbol/elf_functions.h"
#include "symbol/symbol_table.h"

/*
 * Lets the symbols of a finished table whose size is a guess end where the function around them
 * ends or the next one begins, as far as unwind information tells, and behind a return that padding
 * follows. What cannot be read changes nothing.
 */
void elf_extent_bound(struct symbol_table *table, struct elf_functions *functions,
		      const struct elf_file *file);

#endif
