/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the probes that notes describe lie in their file (elf/usdt_notes.h). */
#ifndef PKBPF_ELF_USDT_SITE_H
#define PKBPF_ELF_USDT_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"

struct usdt_site {
	uint64_t offset;	   /* of the instruction in the file */
	uint64_t semaphore_offset; /* of its counter of tracers in the file; 0: none */
	/* An earlier mapping shows the semaphore's page. While that is writable, which it is when a
	 * program starts, the kernel raises the counter there, and the program's own stays 0. */
	bool semaphore_is_shadowed;
};

/* Of addresses as linked; semaphore 0: none. false: the file does not have them. */
bool usdt_site_at(const struct elf_file *file, uint64_t address, uint64_t semaphore,
		  struct usdt_site *ret_site);
/* The first site of this name. -ENOENT: there is none; -EBADMSG: its addresses make no sense. */
int usdt_site_find(const struct elf_file *file, const char *provider, const char *name,
		   struct usdt_site *ret_site);

#endif
