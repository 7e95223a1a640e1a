/* SPDX-License-Identifier: BSD-2-Clause */
/* State of the call frame information at one row: rules for the CFA and the caller's registers. */
#ifndef PKBPF_UNWIND_CFI_CFI_STATE_H
#define PKBPF_UNWIND_CFI_CFI_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "pkbpf/unwind.h"

#define CFI_MACHINE_REGISTERS 32

/* DWARF register numbers of one architecture. */
struct cfi_machine {
	uint8_t stack_pointer;
	uint8_t frame_pointer;
	uint8_t return_address; /* return address column that CIEs must name */
	uint8_t registers;	/* number of general registers; a rule cannot hold others */
	bool has_link_register; /* an unsaved return address is in the link register */
	uint8_t columns[CFI_MACHINE_REGISTERS]; /* enum cfi_column, by register number */
};

/* The kind of rule for one register of the caller. */
enum cfi_cell_kind {
	CFI_CELL_UNSPECIFIED = 0, /* the ABI's default */
	CFI_CELL_SAME,
	CFI_CELL_UNDEFINED,
	CFI_CELL_CFA,	    /* saved at cfa + offset */
	CFI_CELL_FP,	    /* saved at fp + offset */
	CFI_CELL_SP,	    /* saved at sp + offset */
	CFI_CELL_VALUE_CFA, /* its value is cfa + offset */
	CFI_CELL_REGISTER,  /* in another register, whose number is in offset */
	CFI_CELL_UNSUPPORTED,
};

struct cfi_cell {
	int32_t offset;
	uint8_t kind;
};

enum cfi_column {
	CFI_COLUMN_NONE, /* a register that no rule holds */
	CFI_COLUMN_FP,
	CFI_COLUMN_RA,
	CFI_COLUMN_SP,
	CFI_COLUMN_KEPT, /* the first callee-saved register */
};

extern const struct cfi_machine cfi_x86_64, cfi_arm64;

struct cfi_state {
	int64_t cfa_offset; /* of register + offset; survives while an expression defines the CFA */
	int64_t cfa_deref_offset; /* offset of the _DEREF kinds; threshold of the PLT kind */
	uint8_t cfa;		  /* enum pkbpf_cfa_kind */
	uint8_t cfa_register;	  /* valid for SP, FP, REGISTER */
	uint8_t cfa_aux;	  /* for the _DEREF kinds and PKBPF_CFA_SP_INDEXED */
	struct cfi_cell columns[CFI_COLUMN_KEPT]; /* indexed by enum cfi_column */
	/* Packed as in a rule, 16 bits each: no value here makes a rule unsupported. Stored as
	 * whole words, because whole words are read soon after. */
	uint64_t saved[2];
};

/* The CFA is register + offset, for any register. */
static inline bool cfi_state_has_register_cfa(const struct cfi_state *state)
{
	return state->cfa == PKBPF_CFA_SP || state->cfa == PKBPF_CFA_FP ||
	       state->cfa == PKBPF_CFA_REGISTER;
}

/* Converts the state to the equivalent rule; UNSUPPORTED when there is none. */
void cfi_state_to_rule(const struct cfi_machine *machine, bool go_frame_pointer,
		       const struct cfi_state *state, struct pkbpf_unwind_rule *ret_rule);

#endif
