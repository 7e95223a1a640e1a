/* SPDX-License-Identifier: BSD-2-Clause */
/* Decodes the tables that lead from code to positions in sources. */
#ifndef PKBPF_V8_V8_POSITIONS_H
#define PKBPF_V8_V8_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "v8/v8_image.h"

struct v8_position {
	int32_t position;  /* in the source; -1: not known */
	uint32_t inlining; /* 0: of the function itself; else 1 + the entry of the inlined call */
};

/* A SourcePosition, as it stands in tables and in inlining positions. */
struct v8_position v8_position_decode(uint64_t raw);
/* The last entry at or below a code offset (source position table). flag_bits: see struct
 * v8_layout. false: there is none, or the table is damaged. */
bool v8_positions_find(const uint8_t *table, size_t size, uint32_t flag_bits, uint32_t offset,
		       struct v8_position *ret_position);
/* The offset of the bytecode that baseline code at an offset belongs to, by its table of bytecode
 * offsets. -1: the prologue, or not known. */
int32_t v8_positions_bytecode(const uint8_t *table, size_t size, const uint8_t *bytecodes,
			      size_t bytecode_bytes, const struct v8_bytecode_sizes *sizes,
			      uint32_t offset);

#endif
