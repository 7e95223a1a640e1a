/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interprets call frame programs (DWARF 5, section 6.4.2, and the GNU and arm64 additions) for the
 * registers that an unwind rule needs: CFA, frame pointer, return address, and the callee-saved
 * registers that struct cfi_machine lists.
 */
#ifndef PKBPF_UNWIND_CFI_CFI_PROGRAM_H
#define PKBPF_UNWIND_CFI_CFI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi/cfi_state.h"

/* Compilers nest remember_state once. Deeper nesting than this makes the rest of the function
 * UNSUPPORTED. */
#define CFI_REMEMBER_DEPTH 8

/* The parts of a CIE that a program needs. */
struct cfi_context {
	struct cfi_state initial;
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding; /* for DW_CFA_set_loc */
	/* Go's compiler saves the caller's frame pointer at cfa-16 in every function with a frame.
	 * Its call frame information does not say so. */
	bool go_frame_pointer;
	/* The CIE has the 'S' augmentation. That only means that the PC is an exact instruction
	 * address: ordinary code has it too. */
	bool is_signal;
};

/* One function's program. */
struct cfi_program {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;	/* ELF address of its first byte */
	uint64_t base;		/* address that start counts from, for absolute locations */
	uint32_t start, length; /* of the function's code */
};

/* Receives the rule that is in force from an offset on. Offsets ascend strictly within one run. */
typedef void (*cfi_row_fn)(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule);

/* Runs a CIE's initial instructions and stores the result in context->initial. Returns false when
 * they are malformed or advance the location. */
bool cfi_program_run_initial(const struct cfi_machine *machine, struct cfi_context *context,
			     const uint8_t *program, size_t size);
/* Runs a function's program and calls row for each change, at least once, at start. A malformed
 * program ends in an UNSUPPORTED row at the place of the error. Linear in the program's size. */
void cfi_program_run(const struct cfi_machine *machine, const struct cfi_context *context,
		     const struct cfi_program *program, cfi_row_fn row, void *row_context);

#endif
