/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tracks a function's frame through its x86-64 instructions: the known state before an instruction,
 * and the instruction's effect on it.
 *
 * An instruction that computes a stack address from an unknown value ends the known state. A direct
 * call is assumed to preserve caller-saved registers, too: hand-written code knows its callees.
 */
#ifndef PKBPF_UNWIND_CFI_X86_FRAME_H
#define PKBPF_UNWIND_CFI_X86_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "instruction/x86_instruction.h"
#include "pkbpf/unwind.h"

/* The CFA is the stack pointer before the call of this function. */
struct x86_frame {
	int32_t sp_offset;
	int32_t slot, fp_slot, slot_offset;
	int32_t fp_at;
	int32_t copy[X86_REGISTER_COUNT]; /* if in copies: the CFA is the register + copy */
	uint16_t copies;
	uint16_t knows; /* bits: known fields, and more */
};

extern const struct x86_frame x86_frame_at_entry; /* at a function's first instruction */
extern const struct x86_frame
	x86_frame_outermost; /* at the program's entry point, which has no caller */

/* The frame of a function's body, from the stack pointer up to the CFA: with the return address
 * and, below it, the caller's frame pointer. */
struct x86_frame x86_frame_of_body(int32_t bytes);
/* Sets the distance from the stack pointer to the CFA. Returns false when it is not known. */
bool x86_frame_size(const struct x86_frame *frame, int32_t *ret_bytes);

void x86_frame_step(struct x86_frame *frame, const struct x86_instruction *instruction);
/* The step ignores this instruction, like most vector instructions; callers may skip the step. */
bool x86_frame_is_left_alone(const struct x86_instruction *instruction);
/* Returns the unwind rule of the frame. Its CFA kinds: NONE, SP, FP, REGISTER, SP_DEREF, FP_DEREF
 * and END. */
struct pkbpf_unwind_rule x86_frame_rule(const struct x86_frame *frame);

/* DWARF's number of a general register. */
uint8_t x86_dwarf_register(unsigned int number);

/* Equal frames have equal hashes. */
uint32_t x86_frame_hash(const struct x86_frame *frame);
/* Only the return address is on the stack. */
bool x86_frame_is_at_entry(const struct x86_frame *frame);
bool x86_frame_is_outermost(const struct x86_frame *frame);
/* The frame pointer points to the caller's saved frame pointer, with the return address above
 * it. */
bool x86_frame_is_in_chain(const struct x86_frame *frame);
/* The instruction accesses memory below the caller's frame pointer: the code runs in the frame of
 * another function. */
bool x86_frame_is_borrowed(const struct x86_frame *frame,
			   const struct x86_instruction *instruction);

#endif
