/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Function starts of a file, from its symbols. Libraries keep the symbols that others call even
 * when stripped, and those are mostly the functions of undescribed assembly.
 *
 * Bounds on hostile files: one symbol table of each kind is read, up to
 * FUNCTION_STARTS_MAX_TABLE_BYTES of it.
 */
#ifndef PKBPF_UNWIND_CODE_FUNCTION_STARTS_H
#define PKBPF_UNWIND_CODE_FUNCTION_STARTS_H

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define FUNCTION_STARTS_MAX_TABLE_BYTES (8U << 20)

/* Ascending offsets without duplicates. */
struct function_starts {
	uint32_t *items;
	size_t count, capacity;
};

/* Collects functions in [text_start, text_start + text_size); offsets count from text_start and fit
 * in 32 bits. Entries that are unreadable or do not fit in memory are left out. The caller frees
 * the array. */
void function_starts_read(const struct elf_file *file, uint64_t text_start, uint64_t text_size,
			  struct function_starts *ret_starts);

#endif
