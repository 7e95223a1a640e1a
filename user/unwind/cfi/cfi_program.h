/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs call frame programs (DWARF 5, section 6.4.2, and the GNU and arm64 additions) for the
 * registers that an unwind rule needs: CFA, frame pointer, return address, and RBX where a table
 * tracks it.
 */
#ifndef PKBPF_UNWIND_CFI_CFI_PROGRAM_H
#define PKBPF_UNWIND_CFI_CFI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi/cfi_state.h"

/* Compilers nest remember_state once; more than this makes the rest of a function UNSUPPORTED. */
#define CFI_REMEMBER_DEPTH 8

/* What a program takes from its CIE. */
struct cfi_context {
	struct cfi_state initial;
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding; /* of DW_CFA_set_loc */
	/* Go's compiler keeps the caller's frame pointer at cfa-16 in every function with a frame,
	 * without saying so in its call frame information. */
	bool go_frame_pointer;
	/* Marked as of a signal frame. The mark alone says no more than that the address in it is
	 * exact: ordinary code has it, too. */
	bool is_signal;
};

/* Of a function. */
struct cfi_program {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;	/* where its first byte is loaded */
	uint64_t base;		/* what start counts from, for absolute locations */
	uint32_t start, length; /* of the function's code */
};

/* Rule in force from an offset on; offsets ascend strictly within a run. */
typedef void (*cfi_row_fn)(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule);

/* Runs a CIE's program from nothing to context->initial; false when it is malformed or moves the
 * location. */
bool cfi_program_run_initial(const struct cfi_machine *machine, struct cfi_context *context,
			     const uint8_t *program, size_t size);
/* Runs a function's program over its code and calls row for each change, at least once, at start. A
 * malformed program ends in an UNSUPPORTED row at the place where it went wrong. Linear in its
 * size.
 */
void cfi_program_run(const struct cfi_machine *machine, const struct cfi_context *context,
		     const struct cfi_program *program, cfi_row_fn row, void *row_context);

#endif
