// SPDX-License-Identifier: BSD-2-Clause
/* Converts the state at one row to an unwind rule. */
#include "unwind/cfi/cfi_state.h"

#include <stddef.h>
#include <string.h>

const struct cfi_machine cfi_x86_64 = {
	.stack_pointer = 7,
	.frame_pointer = 6,
	.return_address = 16,
	.registers = 16,
	.columns = {[3] = CFI_COLUMN_KEPT,
		    [6] = CFI_COLUMN_FP,
		    [7] = CFI_COLUMN_SP,
		    [12] = CFI_COLUMN_KEPT + 1,
		    [13] = CFI_COLUMN_KEPT + 2,
		    [14] = CFI_COLUMN_KEPT + 3,
		    [15] = CFI_COLUMN_KEPT + 4,
		    [16] = CFI_COLUMN_RA},
};

const struct cfi_machine cfi_arm64 = {
	.stack_pointer = 31,
	.frame_pointer = 29,
	.return_address = 30,
	.registers = 31,
	.has_link_register = true,
	.columns = {[29] = CFI_COLUMN_FP, [30] = CFI_COLUMN_RA, [31] = CFI_COLUMN_SP},
};

/* A rule under construction. The rule set reads rules as words, and a load of a word whose bytes
 * were just stored one by one stalls the processor. So this is not a struct pkbpf_unwind_rule. */
struct draft {
	int32_t cfa_offset;
	int32_t fp_offset;
	int16_t ra_offset;
	uint8_t cfa;
	uint8_t fp;
	uint8_t ra;
	uint8_t aux;
	uint64_t saved[2]; /* as in struct cfi_state */
};

static inline void finish_draft(const struct draft *draft, struct pkbpf_unwind_rule *ret_rule)
{
	uint64_t words[4];

	_Static_assert(sizeof(words) == sizeof(*ret_rule), "a rule is four words");
	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are put together by hand");
	_Static_assert(offsetof(struct pkbpf_unwind_rule, ra_offset) == 8 &&
			       offsetof(struct pkbpf_unwind_rule, cfa) == 10 &&
			       offsetof(struct pkbpf_unwind_rule, aux) == 13 &&
			       offsetof(struct pkbpf_unwind_rule, saved) == 16 &&
			       PKBPF_KEPT_REGISTERS == 5,
		       "fields lie where the words have them");
	words[0] = (uint32_t)draft->cfa_offset | (uint64_t)(uint32_t)draft->fp_offset << 32;
	words[1] = (uint16_t)draft->ra_offset | (uint64_t)draft->cfa << 16 |
		   (uint64_t)draft->fp << 24 | (uint64_t)draft->ra << 32 |
		   (uint64_t)draft->aux << 40;
	words[2] = draft->saved[0];
	words[3] = draft->saved[1];
	/* Stored one by one: a single copy would use vector loads, for which the words would first
	 * be stored to memory. */
	memcpy(ret_rule, &words[0], sizeof(words[0]));
	memcpy((char *)ret_rule + 8, &words[1], sizeof(words[1]));
	memcpy((char *)ret_rule + 16, &words[2], sizeof(words[2]));
	memcpy((char *)ret_rule + 24, &words[3], sizeof(words[3]));
}

static inline bool fp_to_rule(const struct cfi_state *state, bool go_frame_pointer,
			      struct draft *rule)
{
	const struct cfi_cell *cell = &state->columns[CFI_COLUMN_FP];

	switch (cell->kind) {
	case CFI_CELL_UNSPECIFIED:
		if (go_frame_pointer && state->cfa == PKBPF_CFA_SP && state->cfa_offset >= 16) {
			rule->fp = PKBPF_FP_CFA;
			rule->fp_offset = -16;
			return true;
		}
		rule->fp = PKBPF_FP_SAME;
		return true;
	case CFI_CELL_SAME:
		rule->fp = PKBPF_FP_SAME;
		return true;
	case CFI_CELL_UNDEFINED:
		rule->fp = PKBPF_FP_UNDEFINED;
		return true;
	case CFI_CELL_CFA:
		rule->fp = PKBPF_FP_CFA;
		rule->fp_offset = cell->offset;
		return true;
	case CFI_CELL_FP:
		rule->fp = PKBPF_FP_FP;
		rule->fp_offset = cell->offset;
		return true;
	case CFI_CELL_SP:
		/* Both offsets count from the same stack pointer, so the difference is independent
		 * of it. */
		rule->fp = PKBPF_FP_CFA;
		return state->cfa == PKBPF_CFA_SP &&
		       !__builtin_sub_overflow((int64_t)cell->offset, state->cfa_offset,
					       &rule->fp_offset);
	default:
		return false;
	}
}

static inline bool ra_to_rule(const struct cfi_machine *machine, const struct cfi_state *state,
			      struct draft *rule)
{
	const struct cfi_cell *cell = &state->columns[CFI_COLUMN_RA];

	switch (cell->kind) {
	case CFI_CELL_UNSPECIFIED:
	case CFI_CELL_SAME:
		rule->ra = PKBPF_RA_LINK;
		return machine->has_link_register;
	case CFI_CELL_CFA:
		if (cell->offset < INT16_MIN || cell->offset > INT16_MAX)
			return false;
		rule->ra = PKBPF_RA_CFA;
		rule->ra_offset = (int16_t)cell->offset;
		return true;
	case CFI_CELL_REGISTER:
		if (machine->has_link_register && cell->offset == machine->return_address) {
			rule->ra = PKBPF_RA_LINK;
			return true;
		}
		rule->ra = PKBPF_RA_REGISTER;
		rule->ra_offset = (int16_t)cell->offset;
		return true;
	default:
		return false;
	}
}

static inline bool cfa_to_rule(const struct cfi_state *state, struct draft *rule)
{
	const struct cfi_cell *sp = &state->columns[CFI_COLUMN_SP];
	int64_t offset = state->cfa_offset;

	/* By convention the caller's stack pointer is the CFA; the unwind step supports nothing
	 * else. */
	if (sp->kind != CFI_CELL_UNSPECIFIED && (sp->kind != CFI_CELL_VALUE_CFA || sp->offset != 0))
		return false;
	if (!cfi_state_has_register_cfa(state)) {
		offset = state->cfa_deref_offset;
		rule->aux = state->cfa_aux;
	} else if (state->cfa == PKBPF_CFA_REGISTER) {
		rule->aux = state->cfa_register;
	}
	if (offset < INT32_MIN || offset > INT32_MAX)
		return false;
	rule->cfa = state->cfa;
	rule->cfa_offset = (int32_t)offset;
	return state->cfa != PKBPF_CFA_UNSUPPORTED;
}

/* A jump into another frame: the stack pointer of that frame is not the CFA. Stack pointer, frame
 * pointer and return address must all be found in the same way. */
static bool jump_to_rule(const struct cfi_state *state, struct draft *rule)
{
	const struct cfi_cell *sp = &state->columns[CFI_COLUMN_SP],
			      *fp = &state->columns[CFI_COLUMN_FP],
			      *ra = &state->columns[CFI_COLUMN_RA];

	if (sp->kind != fp->kind || sp->kind != ra->kind || ra->offset < INT16_MIN ||
	    ra->offset > INT16_MAX)
		return false;
	if (sp->kind == CFI_CELL_REGISTER) {
		*rule = (struct draft){.cfa = PKBPF_CFA_JUMP, .aux = (uint8_t)sp->offset};
	} else if (sp->kind == CFI_CELL_CFA && state->cfa == PKBPF_CFA_REGISTER &&
		   state->cfa_offset == 0) {
		*rule = (struct draft){.cfa = PKBPF_CFA_JUMP_SAVED,
				       .aux = state->cfa_register,
				       .cfa_offset = sp->offset};
	} else {
		return false;
	}
	rule->fp_offset = fp->offset;
	rule->ra_offset = (int16_t)ra->offset;
	for (unsigned int i = 0; i < PKBPF_KEPT_REGISTERS; i++)
		rule->saved[i / 4] |= (uint64_t)PKBPF_SAVED_UNKNOWN << i % 4 * 16;
	return true;
}

void cfi_state_to_rule(const struct cfi_machine *machine, bool go_frame_pointer,
		       const struct cfi_state *state, struct pkbpf_unwind_rule *ret_rule)
{
	struct draft draft = {0};

	if (state->columns[CFI_COLUMN_RA].kind == CFI_CELL_UNDEFINED)
		draft = (struct draft){.cfa = PKBPF_CFA_END};
	else if (state->columns[CFI_COLUMN_SP].kind != CFI_CELL_UNSPECIFIED &&
		 jump_to_rule(state, &draft))
		;
	else if (!cfa_to_rule(state, &draft) || !fp_to_rule(state, go_frame_pointer, &draft) ||
		 !ra_to_rule(machine, state, &draft))
		draft = (struct draft){.cfa = PKBPF_CFA_UNSUPPORTED};
	else
		draft.saved[0] = state->saved[0], draft.saved[1] = state->saved[1];
	finish_draft(&draft, ret_rule);
}
