/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where functions begin in a file's code, by its symbols. Libraries name those that others call,
 * stripped or not, and assembly that no call frame information describes is mostly called so.
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

/* Offsets, ascending, each once. */
struct function_starts {
	uint32_t *items;
	size_t count, capacity;
};

/* Of functions from text_start on and below it by less than text_size, which offsets count from and
 * 32 bits hold. What cannot be read, or for lack of memory not be kept, is left out. The caller
 * frees the array. */
void function_starts_read(const struct elf_file *file, uint64_t text_start, uint64_t text_size,
			  struct function_starts *ret_starts);

#endif
