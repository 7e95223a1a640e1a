/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the C function behind a builtin function of CPython: stripped interpreters have no symbol
 * for it, but their table of methods has its name, address and documentation (PyMethodDef).
 */
#ifndef PKBPF_PYTHON_PYTHON_BUILTIN_H
#define PKBPF_PYTHON_PYTHON_BUILTIN_H

#include <stdint.h>

struct elf_file;

/* Address, as linked, of the function that takes its arguments as an array (METH_FASTCALL): self,
 * arguments, their number. -ENOENT: not found; -EIO, -ENOMEM. */
int python_builtin_find(const struct elf_file *file, const char *name, uint64_t *ret_address);

#endif
