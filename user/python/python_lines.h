/* SPDX-License-Identifier: BSD-2-Clause */
/* From the instruction of a code object to its source line. */
#ifndef PKBPF_PYTHON_PYTHON_LINES_H
#define PKBPF_PYTHON_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/* In place of a minor version: the table is made of these, in order. An instruction has the line of
 * the one before it: frames of Ruby point behind what they run. */
#define PYTHON_LINES_RUNS 0

struct python_line_run {
	uint32_t start; /* instruction */
	uint32_t line;
};

struct python_lines {
	const uint8_t *bytes; /* co_lnotab (3.8, 3.9), co_linetable: of a target, hostile */
	size_t size;
	uint32_t first_line;
	uint8_t minor; /* of 3.minor, or PYTHON_LINES_RUNS */
};

/* Line of an instruction, in units of two bytes from the first one. first_line beyond the table's
 * end; 0: the compiler made the instruction for no line, or the table is damaged. */
uint32_t python_lines_find(const struct python_lines *lines, uint32_t instruction);

#endif
