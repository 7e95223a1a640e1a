/* SPDX-License-Identifier: BSD-2-Clause */
/* Statically defined tracepoints (USDT): places in code described by notes of type stapsdt, as
 * systemtap's <sys/sdt.h> writes them. */
#ifndef PKBPF_ELF_USDT_SITE_H
#define PKBPF_ELF_USDT_SITE_H

#include <stdint.h>

#include "elf/elf_file.h"

struct usdt_site {
	uint64_t offset;	   /* of the instruction in the file */
	uint64_t semaphore_offset; /* of its counter of tracers in the file; 0: none */
};

/* The first site of this name. -ENOENT: there is none; -EBADMSG: damaged notes. */
int usdt_site_find(const struct elf_file *file, const char *provider, const char *name,
		   struct usdt_site *ret_site);

#endif
