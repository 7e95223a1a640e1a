// SPDX-License-Identifier: BSD-2-Clause
/* Derives unwind rules from frames, and recognizes instructions that leave frames unchanged. */
#include "unwind/cfi/x86_frame.h"

#include "unwind/cfi/x86_frame_private.h"

#define RETURN_ADDRESS 8

const struct x86_frame x86_frame_at_entry = {.sp_offset = RETURN_ADDRESS, .knows = KNOWS_SP};
const struct x86_frame x86_frame_outermost = {.knows = IS_OUTERMOST};

struct x86_frame x86_frame_of_body(int32_t bytes)
{
	return (struct x86_frame){
		.sp_offset = bytes,
		.fp_at = -2 * RETURN_ADDRESS,
		.knows = KNOWS_SP | FP_SAVED,
	};
}

bool x86_frame_size(const struct x86_frame *frame, int32_t *ret_bytes)
{
	*ret_bytes = frame->sp_offset;
	return frame->knows & KNOWS_SP;
}

uint8_t x86_dwarf_register(unsigned int number)
{
	static const uint8_t numbers[8] = {0, 2, 1, 3, 7, 6, 4, 5};

	return (uint8_t)(number < 8 ? numbers[number] : number);
}

static void set_cfa(struct pkbpf_unwind_rule *rule, enum pkbpf_cfa_kind kind, int32_t offset,
		    unsigned int aux)
{
	rule->cfa = (uint8_t)kind;
	rule->cfa_offset = offset;
	rule->aux = (uint8_t)aux;
}

/* The aux byte holds the addend to a word in memory, in units of 8 bytes. */
static bool fits_aux(int32_t offset)
{
	return offset >= 0 && offset < 8 * 256 && offset % 8 == 0;
}

struct pkbpf_unwind_rule x86_frame_rule(const struct x86_frame *frame)
{
	struct pkbpf_unwind_rule rule = {0};

	if (frame->knows & IS_OUTERMOST) {
		rule.cfa = PKBPF_CFA_END;
		return rule;
	}
	/* FP first: in a frame with a frame pointer, callees may pop their own arguments. */
	if (frame->knows & FP_FRAME)
		set_cfa(&rule, PKBPF_CFA_FP, frame->copy[X86_RBP], 0);
	else if (frame->knows & KNOWS_SP)
		set_cfa(&rule, PKBPF_CFA_SP, frame->sp_offset, 0);
	else if (x86_frame_has_copy(frame, X86_RBP))
		set_cfa(&rule, PKBPF_CFA_FP, frame->copy[X86_RBP], 0);
	else if (frame->knows & KNOWS_FP_SLOT && fits_aux(frame->slot_offset))
		set_cfa(&rule, PKBPF_CFA_FP_DEREF, frame->fp_slot,
			(unsigned int)frame->slot_offset / 8);
	else if (frame->knows & KNOWS_SLOT && fits_aux(frame->slot_offset))
		set_cfa(&rule, PKBPF_CFA_SP_DEREF, frame->slot,
			(unsigned int)frame->slot_offset / 8);
	else if (frame->copies)
		set_cfa(&rule, PKBPF_CFA_REGISTER, frame->copy[__builtin_ctz(frame->copies)],
			x86_dwarf_register((unsigned int)__builtin_ctz(frame->copies)));
	else
		return rule;
	rule.ra_offset = -RETURN_ADDRESS;
	/* Pushed callee-saved registers are not tracked one by one. */
	for (int i = 0; !x86_frame_is_at_entry(frame) && i < PKBPF_KEPT_REGISTERS; i++)
		rule.saved[i] = PKBPF_SAVED_UNKNOWN;
	if (frame->knows & FP_SAVED) {
		rule.fp = PKBPF_FP_CFA;
		rule.fp_offset = frame->fp_at;
	} else if (frame->knows & FP_LOST) {
		rule.fp = PKBPF_FP_UNDEFINED;
	}
	return rule;
}

uint32_t x86_frame_hash(const struct x86_frame *frame)
{
	uint32_t hash = (uint32_t)frame->sp_offset;

	hash = hash * 31 + (uint32_t)frame->fp_at;
	hash = hash * 31 + frame->copies;
	hash = hash * 31 + frame->knows;
	hash = hash * 31 + (uint32_t)frame->copy[X86_RBP];
	return hash ^ hash >> 15;
}

bool x86_frame_is_at_entry(const struct x86_frame *frame)
{
	return frame->knows & KNOWS_SP && frame->sp_offset == RETURN_ADDRESS;
}

bool x86_frame_is_outermost(const struct x86_frame *frame)
{
	return frame->knows & IS_OUTERMOST;
}

bool x86_frame_is_in_chain(const struct x86_frame *frame)
{
	return x86_frame_has_copy(frame, X86_RBP) && frame->copy[X86_RBP] == 2 * RETURN_ADDRESS &&
	       frame->knows & FP_SAVED && frame->fp_at == -2 * RETURN_ADDRESS;
}

bool x86_frame_is_borrowed(const struct x86_frame *frame, const struct x86_instruction *instruction)
{
	return instruction->has_modrm && instruction->mod != 3 && instruction->has_base &&
	       instruction->rm == X86_RBP && x86_frame_fp_is_callers(frame) &&
	       !x86_frame_has_copy(frame, X86_RBP) &&
	       (uint32_t)instruction->displacement >= 0xfffff000U;
}

/* Most instructions of undescribed code are vector instructions. */
bool x86_frame_is_left_alone(const struct x86_instruction *instruction)
{
	uint8_t opcode = instruction->opcode;

	switch (instruction->map) {
	case X86_MAP_0F:
		return (opcode >= 0x10 && opcode < 0x2c) || (opcode > 0x50 && opcode < 0x78) ||
		       (opcode > 0x79 && opcode < 0x7e) || (opcode >= 0xd8) ||
		       (opcode > 0xd0 && opcode < 0xd7);
	case X86_MAP_0F38:
		return opcode < 0xf0;
	case X86_MAP_0F3A:
		return opcode < 0x14;
	case X86_MAP_OTHER:
		return true;
	}
	return false;
}
