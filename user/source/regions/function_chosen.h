/* SPDX-License-Identifier: BSD-2-Clause */
/* Which implementation of a function (IFUNC) the dynamic linker chooses on this machine. */
#ifndef PKBPF_SOURCE_REGIONS_FUNCTION_CHOSEN_H
#define PKBPF_SOURCE_REGIONS_FUNCTION_CHOSEN_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"

/* Address as linked, of the default version of a function, by its mangled name. The choice depends
 * on the CPU, and is looked up in this program: false when it does not use this very file. A
 * process with GLIBC_TUNABLES of its own may have another one. */
bool function_chosen_find(const struct elf_file *file, const char *name, uint64_t *ret_address);

#endif
