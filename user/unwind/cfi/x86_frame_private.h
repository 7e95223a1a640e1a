/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files that track x86-64 frames and derive rules from them. */
#ifndef PKBPF_UNWIND_CFI_X86_FRAME_PRIVATE_H
#define PKBPF_UNWIND_CFI_X86_FRAME_PRIVATE_H

#include "unwind/cfi/x86_frame.h"

/* Bits of x86_frame.knows. */
enum {
	KNOWS_SP = 1,	    /* the CFA is the stack pointer + sp_offset */
	KNOWS_SLOT = 2,	    /* the CFA is the word at the stack pointer + slot, + slot_offset */
	FP_SAVED = 4,	    /* the caller's frame pointer is at the CFA + fp_at */
	FP_LOST = 8,	    /* the caller's frame pointer is neither saved nor in its register */
	FP_FRAME = 16,	    /* this function has set up its own frame pointer as compilers do */
	IS_OUTERMOST = 32,  /* the program's entry code */
	KNOWS_FP_SLOT = 64, /* the CFA is the word at the frame pointer + fp_slot, + slot_offset */
};

/* The CFA is the register + copy[number]. */
static inline bool x86_frame_has_copy(const struct x86_frame *frame, uint8_t number)
{
	return frame->copies >> number & 1;
}

/* The frame pointer register still holds the caller's value. */
static inline bool x86_frame_fp_is_callers(const struct x86_frame *frame)
{
	return !(frame->knows & (FP_SAVED | FP_LOST));
}

#endif
