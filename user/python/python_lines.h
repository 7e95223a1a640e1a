/* SPDX-License-Identifier: BSD-2-Clause */
/* From the instruction of a code object to its source line. */
#ifndef PKBPF_PYTHON_PYTHON_LINES_H
#define PKBPF_PYTHON_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

struct python_lines {
	const uint8_t *bytes; /* co_lnotab (3.8, 3.9), co_linetable: of a target, hostile */
	size_t size;
	uint32_t first_line;
	uint8_t minor; /* of 3.minor */
};

/* Line of an instruction, in units of two bytes from the first one. first_line beyond the table's
 * end; 0: the compiler made the instruction for no line, or the table is damaged. */
uint32_t python_lines_find(const struct python_lines *lines, uint32_t instruction);

#endif
