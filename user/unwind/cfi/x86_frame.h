/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of a function's frame before one of its instructions of x86-64, and what the
 * instruction makes of it.
 *
 * Instructions that calculate an address of the stack from something unknown end what is known. A
 * register that a called function need not keep is believed to hold what it held where the call
 * leads straight to another function: hand-written code knows what it calls.
 */
#ifndef PKBPF_UNWIND_CFI_X86_FRAME_H
#define PKBPF_UNWIND_CFI_X86_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "instruction/x86_instruction.h"
#include "pkbpf/unwind.h"

/* The CFA is the stack pointer before the call that led here. */
struct x86_frame {
	int32_t sp_offset;
	int32_t slot, fp_slot, slot_offset;
	int32_t fp_at;
	int32_t copy[X86_REGISTER_COUNT]; /* the CFA is this register + copy, for those in copies */
	uint16_t copies;
	uint16_t knows; /* which of the above, and more */
};

extern const struct x86_frame x86_frame_at_entry; /* at a function's first instruction */
extern const struct x86_frame
	x86_frame_outermost; /* where the program starts: nothing has called it */

void x86_frame_step(struct x86_frame *frame, const struct x86_instruction *instruction);
/* The step does nothing for this one, as for most that calculate with vectors: a caller that has
 * many may leave it out. */
bool x86_frame_is_left_alone(const struct x86_instruction *instruction);
/* How a walk finds the caller: the kinds NONE, SP, FP, REGISTER, SP_DEREF, FP_DEREF and END. */
struct pkbpf_unwind_rule x86_frame_rule(const struct x86_frame *frame);

/* The same for equal ones. */
uint32_t x86_frame_hash(const struct x86_frame *frame);
/* Nothing but the return address is on the stack. */
bool x86_frame_is_at_entry(const struct x86_frame *frame);
bool x86_frame_is_outermost(const struct x86_frame *frame);
/* The frame pointer points to the caller's, with the return address above it. */
bool x86_frame_is_in_chain(const struct x86_frame *frame);
/* The instruction reaches below the caller's frame pointer: the code runs in the frame of another
 * piece. */
bool x86_frame_is_borrowed(const struct x86_frame *frame,
			   const struct x86_instruction *instruction);

#endif
