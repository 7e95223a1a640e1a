/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of a file that allocate, by their names. */
#ifndef PKBPF_SOURCE_ALLOC_ALLOCATOR_SITES_H
#define PKBPF_SOURCE_ALLOC_ALLOCATOR_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/alloc.h>

#include "base/array.h"
#include "elf/elf_file.h"

/* Aliases are dropped, so there are few. */
#define ALLOCATOR_SITES_MAX 64

struct allocator_site {
	uint64_t offset; /* of the instruction to probe, in the file */
	enum pkbpf_alloc_shape shape;
	uint64_t start, next; /* of the function, as linked; where it goes at once, 0: nowhere */
	bool is_jump;	      /* to another one of these functions */
};

struct allocator_sites {
	ARRAY_OF(struct allocator_site) items; /* each function once */
};

/* None is no error. -ENOMEM, -EBADMSG, -EIO. */
int allocator_sites_find(const struct elf_file *file, struct allocator_sites *sites);

#endif
