/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One x86-64 instruction: its length, and the fields that determine its effect on general
 * registers.
 *
 * Follows the opcode maps in the Intel and AMD manuals: legacy, VEX, EVEX and XOP encodings. The
 * input may be any bytes.
 */
#ifndef PKBPF_INSTRUCTION_X86_INSTRUCTION_H
#define PKBPF_INSTRUCTION_X86_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* General registers, numbered as in instructions. AH to BH count as the registers that contain
 * them. */
enum x86_register {
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RBX,
	X86_RSP,
	X86_RBP,
	X86_RSI,
	X86_RDI,
	X86_REGISTER_COUNT = 16
};

enum x86_map {
	X86_MAP_ONE_BYTE, /* opcode */
	X86_MAP_0F,	  /* 0f opcode */
	X86_MAP_0F38,
	X86_MAP_0F3A,
	X86_MAP_OTHER, /* opcodes that only EVEX and XOP reach */
};

#define X86_MAX_INSTRUCTION_BYTES 15

struct x86_instruction {
	/* sign-extended; of jumps and calls: the relative target; of two immediates: the last */
	int64_t immediate;
	int32_t displacement;
	uint8_t size;	/* bytes; 0: invalid */
	uint8_t map;	/* enum x86_map */
	uint8_t opcode; /* the byte that selects from the map */
	uint8_t mod;	/* ModRM.mod; 3: rm is a register, else a memory operand */
	uint8_t reg;	/* ModRM.reg with its extension bit */
	/* ModRM.rm or the register in the opcode, with its extension bit; of a memory operand: the
	 * base register */
	uint8_t rm;
	uint8_t index; /* index register; X86_RSP: none */
	bool has_modrm;
	bool has_base;	 /* memory operand with a base register */
	bool is_vector;	 /* VEX, EVEX, XOP */
	bool is_wide;	 /* REX.W: operands of 8 bytes */
	bool is_short;	 /* prefix 66: operands of 2 bytes */
	bool has_repeat; /* prefix f2 or f3 */
};

/* Returns false, with size 0, when the bytes are no complete instruction. */
bool x86_decode(const uint8_t *code, size_t size, struct x86_instruction *ret_instruction);

#endif
