/* SPDX-License-Identifier: BSD-2-Clause */
/* The package that brings the names of a C library's own functions, those that begin threads among
 * them, which distributions strip. */
#ifndef PKBPF_SYMBOL_ELF_LIBC_PACKAGE_H
#define PKBPF_SYMBOL_ELF_LIBC_PACKAGE_H

#include <stdbool.h>

#include "symbol/elf/debug_file.h"

/* By base name: "libc.so.6", "libpthread.so.0", "ld-musl-x86_64.so.1". */
bool libc_is_file(const char *name);
/* What to do on the system with this os-release: "install libc6-dbg". NULL: not known. */
const char *libc_package_advice(const char *name, const char *os_release);
/* The same for the system of the process that maps the file. */
const char *libc_package_find(const char *name, const struct debug_file_search *search);

#endif
