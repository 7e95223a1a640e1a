/* SPDX-License-Identifier: BSD-2-Clause */
/* Demangles C++ and Rust names, without parameters, return type and hash. */
#ifndef PKBPF_ELF_DEMANGLE_H
#define PKBPF_ELF_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/string_pool.h"

/* Longer names are left as they are: decoders recurse over their input. */
#define DEMANGLE_MAX_INPUT_BYTES (8U << 10)
/* A few kilobytes of mangled text can stand for more output than the universe has atoms; it is cut
 * here. */
#define DEMANGLE_MAX_OUTPUT_BYTES (4U << 10)

/* false: not a mangled name, or one we decline; text is undefined then. A cut one ends in "...". */
bool demangle(const char *name, char *text, size_t size);

/* The demangled name, or the name itself, in the pool, cut to DEMANGLE_MAX_OUTPUT_BYTES; "" when
 * out of memory. */
const char *demangle_name(struct string_pool *strings, const char *name);

#endif
