/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the libraries that a file wants to be loaded with, and where it says they are. */
#ifndef PKBPF_ELF_ELF_NEEDED_H
#define PKBPF_ELF_ELF_NEEDED_H

#include "elf/elf_file.h"

#define ELF_NEEDED_MAX 256

/* Borrowed until it returns. */
typedef void elf_needed_fn(void *context, const char *name);

/* Calls take for each name. *ret_run_path ("" when it has none): directories separated by colons,
 * cut to size - 1 bytes. */
void elf_needed(const struct elf_file *file, char *ret_run_path, size_t size, elf_needed_fn *take,
		void *context);

#endif
