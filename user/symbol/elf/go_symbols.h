/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of a Go program and their names from the run-time's own table (.gopclntab), which
 * it needs for its tracebacks and which stays when a program is stripped.
 */
#ifndef PKBPF_SYMBOL_ELF_GO_SYMBOLS_H
#define PKBPF_SYMBOL_ELF_GO_SYMBOLS_H

#include "elf/elf_file.h"
#include "symbol/elf/elf_symbols.h"

/* The largest seen, of a command-line tool of 130 MB, has 35 MiB. A larger one than this is not
 * read. */
#define GO_SYMBOLS_MAX_BYTES (128U << 20)

/* -ENOENT: no Go program, a table of another format, or nobody knows where its text begins;
 * -ENOSPC: more than a symbol_table holds; -EIO, -ENOMEM. */
int go_symbols_read(const struct elf_file *file, struct elf_symbols *ret_symbols);

#endif
