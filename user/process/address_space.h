/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mappings of one process at one moment, sorted, without overlap: a new mapping cuts what it
 * covers. Copies share their memory until one of them changes, so a fork costs a few words. One
 * owner thread for all copies.
 */
#ifndef PKBPF_PROCESS_ADDRESS_SPACE_H
#define PKBPF_PROCESS_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/file/mapped_file.h"

/* Most mappings kept per process; beyond it the oldest stay and new ones are counted as dropped. */
#define ADDRESS_SPACE_MAX_MAPPINGS 65536

struct mapping {
	uint64_t start, end; /* end exclusive */
	uint64_t file_offset;
	struct mapped_file *file; /* NULL: anonymous (JIT code, heap) */
	uint32_t protection;
};

/* Bounds the mappings of many address spaces together; shared ones count once. Outlives them. */
struct mapping_budget {
	size_t used, limit;
};

struct address_space;

struct address_space *address_space_new(void);
/* The same with a budget, which copies share. */
struct address_space *address_space_new_within(struct mapping_budget *budget);
struct address_space *address_space_copy(const struct address_space *from);
void address_space_free(struct address_space *space);
/* Executable memory without a file in the midst of a file's mappings becomes that file's, as text
 * does that a program has moved to huge pages. -ENOMEM, -ENOSPC (too many, or budget used up),
 * -EINVAL (start >= end): nothing is changed. */
int address_space_add(struct address_space *space, const struct mapping *mapping);
/* Forgets what is mapped in [start, end), splitting mappings that reach beyond. Errors as above. */
int address_space_remove(struct address_space *space, uint64_t start, uint64_t end);
/* The mapping that holds address; NULL. Lives until the next add or remove. */
const struct mapping *address_space_find(const struct address_space *space, uint64_t address);
const struct mapping *address_space_mappings(const struct address_space *space, size_t *ret_count);

#endif
