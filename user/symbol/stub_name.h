/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel that a host function launches, by the name of that. */
#ifndef PKBPF_SYMBOL_STUB_NAME_H
#define PKBPF_SYMBOL_STUB_NAME_H

#include <stddef.h>

/* name: mangled or not, perhaps with what nvcc and hipcc put before it. */
void stub_name(const char *name, char *ret_name, size_t size);

#endif
