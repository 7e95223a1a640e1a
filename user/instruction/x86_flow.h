/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where execution goes on behind an instruction of x86-64, and what code looks like where functions
 * begin and end.
 */
#ifndef PKBPF_INSTRUCTION_X86_FLOW_H
#define PKBPF_INSTRUCTION_X86_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "instruction/x86_instruction.h"

#define INT3 0xcc /* fills space that is not to be executed */

enum x86_flow {
	X86_FLOW_ON,	       /* to the next instruction, calls included */
	X86_FLOW_BRANCH,       /* there, or to the target */
	X86_FLOW_JUMP,	       /* to the target */
	X86_FLOW_JUMP_THROUGH, /* to where a register or memory says */
	X86_FLOW_END,	       /* back, or nowhere */
};

enum x86_flow x86_flow_of(const struct x86_instruction *instruction);
bool x86_is_return(const struct x86_instruction *instruction);
/* One whose target is in the instruction. */
bool x86_is_call(const struct x86_instruction *instruction);
/* Takes an address by its distance, which is the displacement. */
bool x86_is_own_address(const struct x86_instruction *instruction);
/* Calls of any kind, and HLT, behind which compilers go on as well. */
bool x86_may_be_last(const struct x86_instruction *instruction);

/* Bytes of the NOP or trap at the start of code, with which compilers fill the space up to the next
 * function. 0: it is something else. There is at least one byte. */
size_t x86_padding_size(const uint8_t *code, size_t size);

#define X86_ENDBR64_BYTES 4 /* marks what a pointer may lead to */

/* Bytes of the ENDBR64 at the start of code; 0: it is something else. */
size_t x86_endbr64_size(const uint8_t *code, size_t size);

enum x86_beginning {
	X86_BEGINS_NOTHING,
	/* makes room on the stack, or stores a register there that a function need not keep */
	X86_BEGINS_WITH_ROOM,
	/* saves a register that functions keep, or is marked as the target of a pointer */
	X86_BEGINS_A_FUNCTION,
	/* saves two of them, or sets up a frame pointer as compilers do */
	X86_BEGINS_A_FUNCTION_SURELY,
};

/* What code looks like the beginning of. */
enum x86_beginning x86_beginning_of(const uint8_t *code, size_t size);

#endif
