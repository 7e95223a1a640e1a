/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel keeps one counter of tracers for an instruction, the semaphore of the USDT probe that
 * is there, and refuses whoever names another or none while it has probes: all of a link's then.
 */
#ifndef PKBPF_SOURCE_REGIONS_FUNCTION_SEMAPHORES_H
#define PKBPF_SOURCE_REGIONS_FUNCTION_SEMAPHORES_H

#include "elf/usdt_site.h"
#include "source/regions/region_sites.h"

struct function_semaphores {
	ARRAY_OF(struct usdt_site) items; /* those with a semaphore */
};

/* A file whose notes cannot be read has none. -ENOMEM. */
int function_semaphores_load(struct function_semaphores *semaphores, const struct elf_file *file);
/* Gives sites on instructions with a semaphore that one. */
void function_semaphores_set(const struct function_semaphores *semaphores,
			     struct region_sites *sites);
void function_semaphores_done(struct function_semaphores *semaphores);

#endif
