/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where execution continues after an x86-64 instruction, and how code looks at the start and end of
 * functions.
 */
#ifndef PKBPF_INSTRUCTION_X86_FLOW_H
#define PKBPF_INSTRUCTION_X86_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "instruction/x86_instruction.h"

#define INT3 0xcc /* pads space that never executes */

enum x86_flow {
	X86_FLOW_ON,	       /* to the next instruction; includes calls */
	X86_FLOW_BRANCH,       /* to the next instruction or the target */
	X86_FLOW_JUMP,	       /* to the target */
	X86_FLOW_JUMP_THROUGH, /* to an address in a register or memory */
	X86_FLOW_END,	       /* returns, or does not continue */
};

enum x86_flow x86_flow_of(const struct x86_instruction *instruction);
bool x86_is_return(const struct x86_instruction *instruction);
/* A call whose target is in the instruction. */
bool x86_is_call(const struct x86_instruction *instruction);
/* LEA of an RIP-relative address; the displacement is the distance. */
bool x86_is_own_address(const struct x86_instruction *instruction);
/* Any call, or HLT: may be the last instruction of a function, though compilers also continue
 * after it. */
bool x86_may_be_last(const struct x86_instruction *instruction);

/* Bytes of the NOP or trap at the start of code, with which compilers pad the space up to the next
 * function; 0 for anything else. size is at least 1. */
size_t x86_padding_size(const uint8_t *code, size_t size);

#define X86_ENDBR64_BYTES 4 /* marks a valid target of indirect branches */

/* Bytes of the ENDBR64 at the start of code; 0 when there is none. */
size_t x86_endbr64_size(const uint8_t *code, size_t size);

enum x86_beginning {
	X86_BEGINS_NOTHING,
	/* reserves stack space, or stores a caller-saved register on the stack */
	X86_BEGINS_WITH_ROOM,
	/* saves a callee-saved register, or starts with ENDBR64 */
	X86_BEGINS_A_FUNCTION,
	/* saves two callee-saved registers, or sets up a frame pointer as compilers do */
	X86_BEGINS_A_FUNCTION_SURELY,
};

/* Classifies code by its first instructions. */
enum x86_beginning x86_beginning_of(const uint8_t *code, size_t size);

#endif
