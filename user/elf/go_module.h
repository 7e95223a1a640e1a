/* SPDX-License-Identifier: BSD-2-Clause */
/* The description of a Go program for its run-time (moduledata), as far as it matters here. */
#ifndef PKBPF_ELF_GO_MODULE_H
#define PKBPF_ELF_GO_MODULE_H

#include "elf/go_table.h"

/* Address as linked that functions of a table since Go 1.18 count from. Since Go 1.26 the table
 * itself does not say it. false: no description of this table was found. */
bool go_module_find_text(const struct elf_file *file, const struct go_table *table,
			 uint64_t *ret_text);

#endif
