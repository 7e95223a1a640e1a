/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the code of the interpreter's loop (_PyEval_EvalFrameDefault) in an ELF file. */
#ifndef PKBPF_PYTHON_PYTHON_LOOP_H
#define PKBPF_PYTHON_PYTHON_LOOP_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/unwind.h>

struct elf_file;

struct python_loop_part {
	uint64_t start, size; /* ELF address; size 0: none */
};

/* The function, and the part of it that compilers move away because it seldom runs. Parts that are
 * not found have size 0. */
void python_loop_find(const struct elf_file *file,
		      struct python_loop_part ret_parts[PKBPF_PYTHON_LOOP_PARTS]);
/* Start of the function that most jumps out of the code lead into; 0: too few do. Jumps are
 * recognized by their bytes alone, so that some lead anywhere. function_of: the start of the
 * function around an address; 0: none. */
uint64_t python_loop_cold_part(const uint8_t *code, size_t size, uint64_t address,
			       uint64_t (*function_of)(void *context, uint64_t address),
			       void *context);

#endif
