/* SPDX-License-Identifier: BSD-2-Clause */
/* Says which functions that are to be counted have calls that no probe sees: inlined ones. */
#ifndef PKBPF_SOURCE_REGIONS_FUNCTION_INLINED_H
#define PKBPF_SOURCE_REGIONS_FUNCTION_INLINED_H

#include "capture/session/session.h"
#include "elf/elf_file.h"
#include "source/regions/function_set.h"

/* Of a file in which the set has looked for functions; by its own DWARF, else nothing is known. */
void function_inlined_tell(struct function_set *set, const struct session_options *options,
			   const struct elf_file *file, const char *path);

#endif
