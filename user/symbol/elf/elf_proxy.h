/* SPDX-License-Identifier: BSD-2-Clause */
/* Has addresses of mapped files named by a process without rights (names_service.h). */
#ifndef PKBPF_SYMBOL_ELF_ELF_PROXY_H
#define PKBPF_SYMBOL_ELF_ELF_PROXY_H

#include "base/string_pool.h"
#include "symbol/symbolizer.h"

/* As elf_symbolizer_new(), over the readers of options. Images of vDSOs, and all files once there
 * are no readers any more, are read here. A file whose reader ended, took too long or answered
 * nonsense has no names; others have theirs. */
struct symbolizer *elf_proxy_new(const struct symbolizer_options *options,
				 struct mapped_file_table *files, struct string_pool *strings);

#endif
