// SPDX-License-Identifier: BSD-2-Clause
/* Applies instructions to the stack pointer and to the registers that lead to the CFA. */
#include "unwind/cfi/x86_frame.h"

#include "unwind/cfi/x86_frame_private.h"

/* A larger frame means that data was decoded as code. */
#define MAX_FRAME_BYTES (1 << 20)

static void set_copy(struct x86_frame *frame, uint8_t number, int64_t offset)
{
	if (offset > MAX_FRAME_BYTES || offset < -MAX_FRAME_BYTES)
		return;
	frame->copy[number] = (int32_t)offset;
	frame->copies |= (uint16_t)(1U << number);
}

/* The register gets an unknown value. */
static void overwrite(struct x86_frame *frame, uint8_t number)
{
	frame->copies &= (uint16_t) ~(1U << number);
	if (number == X86_RSP) {
		frame->knows &= ~(KNOWS_SP | KNOWS_SLOT);
	} else if (number == X86_RBP) {
		frame->knows &= ~(FP_FRAME | KNOWS_FP_SLOT);
		if (!(frame->knows & FP_SAVED))
			frame->knows |= FP_LOST;
	}
}

static void overwrite_all(struct x86_frame *frame, uint16_t numbers)
{
	for (unsigned int i = 0; i < X86_REGISTER_COUNT; i++)
		if (numbers >> i & 1)
			overwrite(frame, (uint8_t)i);
}

#define REGISTERS(a, b, c, d) (1U << (a) | 1U << (b) | 1U << (c) | 1U << (d))

static void set_sp(struct x86_frame *frame, int64_t offset)
{
	overwrite(frame, X86_RSP);
	if (offset < 0 || offset > MAX_FRAME_BYTES)
		return;
	frame->sp_offset = (int32_t)offset;
	frame->knows |= KNOWS_SP;
}

/* The word that leads to the CFA is now at the stack pointer + slot. */
static void set_slot(struct x86_frame *frame, int64_t slot)
{
	overwrite(frame, X86_RSP);
	if (slot < -MAX_FRAME_BYTES || slot > MAX_FRAME_BYTES)
		return;
	frame->slot = (int32_t)slot;
	frame->knows |= KNOWS_SLOT;
}

/* The stack grows by this many bytes. */
static void grow(struct x86_frame *frame, int64_t bytes)
{
	if (frame->knows & KNOWS_SP)
		set_sp(frame, frame->sp_offset + bytes);
	else if (frame->knows & KNOWS_SLOT)
		set_slot(frame, frame->slot + bytes);
	else
		overwrite(frame, X86_RSP);
}

/* Returns the CFA as an offset from a register; false when it is unknown. */
static bool cfa_from(const struct x86_frame *frame, uint8_t number, int32_t *ret_offset)
{
	if (number == X86_RSP) {
		*ret_offset = frame->sp_offset;
		return frame->knows & KNOWS_SP;
	}
	*ret_offset = frame->copy[number];
	return x86_frame_has_copy(frame, number);
}

static void restore_fp(struct x86_frame *frame)
{
	frame->copies &= (uint16_t) ~(1U << X86_RBP);
	frame->knows &= ~(FP_SAVED | FP_LOST | FP_FRAME | KNOWS_FP_SLOT);
}

static void save_fp(struct x86_frame *frame, int32_t at)
{
	frame->fp_at = at;
	frame->knows |= FP_SAVED;
}

static void push(struct x86_frame *frame, const struct x86_instruction *instruction, int number)
{
	grow(frame, instruction->is_short ? 2 : 8);
	if (number == X86_RBP && x86_frame_fp_is_callers(frame) && frame->knows & KNOWS_SP)
		save_fp(frame, -frame->sp_offset);
}

static void pop(struct x86_frame *frame, const struct x86_instruction *instruction, int number)
{
	bool of_fp = number == X86_RBP && frame->knows & FP_SAVED &&
		     (!(frame->knows & KNOWS_SP) || frame->fp_at == -frame->sp_offset);

	if (number == X86_RSP && frame->knows & KNOWS_SLOT && frame->slot == 0) {
		set_sp(frame, frame->slot_offset);
		return;
	}
	grow(frame, instruction->is_short ? -2 : -8);
	if (of_fp)
		restore_fp(frame);
	else if (number >= 0)
		overwrite(frame, (uint8_t)number);
}

static void leave(struct x86_frame *frame)
{
	int32_t offset;

	if (!cfa_from(frame, X86_RBP, &offset)) {
		overwrite(frame, X86_RSP);
		overwrite(frame, X86_RBP);
		return;
	}
	set_sp(frame, (int64_t)offset - 8);
	restore_fp(frame);
}

static void copy_register(struct x86_frame *frame, uint8_t to, uint8_t from)
{
	bool sets_up = to == X86_RBP && from == X86_RSP && frame->knows & FP_SAVED &&
		       frame->fp_at == -frame->sp_offset;
	int32_t offset = 0;
	bool known = cfa_from(frame, from, &offset);

	if (to == X86_RSP) {
		if (known)
			set_sp(frame, offset);
		else if (from == X86_RBP && frame->knows & KNOWS_FP_SLOT)
			set_slot(frame, frame->fp_slot);
		else
			overwrite(frame, X86_RSP);
		return;
	}
	overwrite(frame, to);
	if (to == X86_RBP && from == X86_RSP && frame->knows & KNOWS_SLOT) {
		frame->fp_slot = frame->slot;
		frame->knows |= KNOWS_FP_SLOT;
	}
	if (known) {
		set_copy(frame, to, offset);
		if (sets_up)
			frame->knows |= FP_FRAME;
	}
}

static bool is_plain_memory(const struct x86_instruction *instruction)
{
	return instruction->mod != 3 && instruction->has_base && instruction->index == X86_RSP;
}

static void store(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	int32_t base, value;

	/* No frame is large enough to contain this address. */
	if (!is_plain_memory(instruction) || instruction->displacement < -MAX_FRAME_BYTES ||
	    instruction->displacement > MAX_FRAME_BYTES)
		return;
	if (instruction->reg == X86_RBP && x86_frame_fp_is_callers(frame) &&
	    cfa_from(frame, instruction->rm, &base))
		save_fp(frame, instruction->displacement - base);
	/* A function that has aligned its stack saves the caller's stack pointer there. */
	if (instruction->rm == X86_RSP && instruction->reg != X86_RSP &&
	    !(frame->knows & KNOWS_SP) && cfa_from(frame, instruction->reg, &value)) {
		if (frame->slot_offset != value)
			frame->knows &= ~KNOWS_FP_SLOT;
		frame->slot = instruction->displacement;
		frame->slot_offset = value;
		frame->knows |= KNOWS_SLOT;
	}
}

static void load(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	uint8_t to = instruction->reg;
	int32_t base;

	if (is_plain_memory(instruction)) {
		if (instruction->rm == X86_RSP && frame->knows & KNOWS_SLOT &&
		    instruction->displacement == frame->slot) {
			int32_t offset = frame->slot_offset;

			overwrite(frame, to);
			if (to == X86_RSP)
				set_sp(frame, offset);
			else
				set_copy(frame, to, offset);
			return;
		}
		if (to == X86_RBP && frame->knows & FP_SAVED &&
		    cfa_from(frame, instruction->rm, &base) &&
		    instruction->displacement - base == frame->fp_at) {
			restore_fp(frame);
			return;
		}
	}
	overwrite(frame, to);
}

static void load_address(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	int32_t offset;
	bool known = instruction->is_wide && is_plain_memory(instruction) &&
		     cfa_from(frame, instruction->rm, &offset);

	/* A LEA without effect is padding before calls that are patched at run time (Mono). */
	if (instruction->is_wide && is_plain_memory(instruction) &&
	    instruction->reg == instruction->rm && !instruction->displacement)
		return;
	if (instruction->reg == X86_RSP && instruction->rm == X86_RSP &&
	    is_plain_memory(instruction)) {
		grow(frame, -(int64_t)instruction->displacement);
		return;
	}
	if (instruction->reg == X86_RSP && instruction->rm == X86_RBP &&
	    is_plain_memory(instruction) && !known && instruction->is_wide &&
	    frame->knows & KNOWS_FP_SLOT) {
		set_slot(frame, (int64_t)frame->fp_slot - instruction->displacement);
		return;
	}
	overwrite(frame, instruction->reg);
	if (!known)
		return;
	if (instruction->reg == X86_RSP)
		set_sp(frame, (int64_t)offset - instruction->displacement);
	else
		set_copy(frame, instruction->reg, (int64_t)offset - instruction->displacement);
}

/* ADD, OR, ADC, SBB, AND, SUB, XOR, CMP with an immediate. */
static void calculate(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	enum { ADD = 0, AND = 4, SUB = 5, CMP = 7 };
	unsigned int operation = instruction->reg & 7;
	int64_t added = operation == SUB ? -instruction->immediate : instruction->immediate;
	uint8_t number = instruction->rm;
	int32_t offset;

	if (instruction->mod != 3 || operation == CMP)
		return;
	if (instruction->opcode == 0x80 || !instruction->is_wide ||
	    (operation != ADD && operation != SUB)) {
		overwrite(frame, number);
	} else if (number == X86_RSP) {
		grow(frame, -added);
	} else {
		bool known = cfa_from(frame, number, &offset);

		overwrite(frame, number);
		if (known)
			set_copy(frame, number, offset - added);
	}
}

static void overwrite_rm(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	if (instruction->mod == 3)
		overwrite(frame, instruction->rm);
}

static void step_arithmetic(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	if (instruction->opcode >= 0x38) /* CMP */
		return;
	switch (instruction->opcode & 7) {
	case 0:
	case 1:
		overwrite_rm(frame, instruction);
		break;
	case 2:
	case 3:
		overwrite(frame, instruction->reg);
		break;
	default:
		overwrite(frame, X86_RAX);
	}
}

/* Indirect calls only. Direct calls preserve all registers here: a helper called by name may have
 * its own convention, and after an alignment of the stack a caller-saved register may be the only
 * one that leads to the CFA. */
static void step_call_through(struct x86_frame *frame)
{
	/* The callee-saved registers. */
	frame->copies &= 1U << X86_RBX | 1U << X86_RBP | 0xf000;
}

static void step_group_ff(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	switch (instruction->reg & 7) {
	case 0:
	case 1:
		overwrite_rm(frame, instruction);
		break;
	case 2:
	case 3:
		step_call_through(frame);
		break;
	case 6:
		push(frame, instruction, -1);
		break;
	}
}

/* Instructions that move the stack pointer. */
static void step_stack(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	switch (instruction->opcode) {
	case 0x50 ... 0x57:
		push(frame, instruction, instruction->rm);
		break;
	case 0x58 ... 0x5f:
		pop(frame, instruction, instruction->rm);
		break;
	case 0x8f:
		pop(frame, instruction, instruction->mod == 3 ? instruction->rm : -1);
		break;
	case 0x9d: /* POPF */
		pop(frame, instruction, -1);
		break;
	case 0xc8: /* ENTER */
		overwrite(frame, X86_RSP);
		overwrite(frame, X86_RBP);
		break;
	case 0xc9:
		leave(frame);
		break;
	default: /* an immediate, PUSHF */
		push(frame, instruction, -1);
		break;
	}
}

static void step_move(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	switch (instruction->opcode) {
	case 0x89:
		if (instruction->mod == 3 && instruction->is_wide)
			copy_register(frame, instruction->rm, instruction->reg);
		else if (instruction->mod == 3)
			overwrite(frame, instruction->rm);
		else if (instruction->is_wide)
			store(frame, instruction);
		break;
	case 0x8a:
		overwrite(frame, instruction->reg);
		break;
	case 0x8b:
		if (instruction->mod == 3 && instruction->is_wide)
			copy_register(frame, instruction->reg, instruction->rm);
		else
			load(frame, instruction);
		break;
	case 0x8d:
		load_address(frame, instruction);
		break;
	default: /* a byte, a segment register */
		overwrite_rm(frame, instruction);
		break;
	}
}

static void step_group_f6(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	if ((instruction->reg & 6) == 2) { /* NOT, NEG */
		overwrite_rm(frame, instruction);
	} else if ((instruction->reg & 7) >= 4) { /* MUL, DIV */
		overwrite(frame, X86_RAX);
		overwrite(frame, X86_RDX);
	}
}

/* Instructions that name the written register in the opcode or not at all. */
static void step_implicit(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	switch (instruction->opcode) {
	case 0x90 ... 0x97: /* XCHG with RAX, of which the first is NOP */
		if (instruction->rm != X86_RAX) {
			overwrite(frame, X86_RAX);
			overwrite(frame, instruction->rm);
		}
		break;
	case 0x98 ... 0x99:
	case 0x9f ... 0xa1:
	case 0xd7:
	case 0xe4 ... 0xe5:
	case 0xec ... 0xed:
		overwrite(frame, X86_RAX);
		overwrite(frame, X86_RDX);
		break;
	case 0xa4 ... 0xa7: /* string instructions */
	case 0xaa ... 0xaf:
		overwrite_all(frame, REGISTERS(X86_RAX, X86_RCX, X86_RSI, X86_RDI));
		break;
	case 0xb0 ... 0xbf:
		overwrite(frame, instruction->rm);
		break;
	case 0xe0 ... 0xe3: /* LOOP */
		overwrite(frame, X86_RCX);
		break;
	}
}

static void step_one_byte(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	switch (instruction->opcode) {
	case 0x00 ... 0x3f:
		step_arithmetic(frame, instruction);
		break;
	case 0x50 ... 0x5f:
	case 0x68:
	case 0x6a:
	case 0x8f:
	case 0x9c ... 0x9d:
	case 0xc8 ... 0xc9:
		step_stack(frame, instruction);
		break;
	case 0x63: /* MOVSXD, IMUL */
	case 0x69:
	case 0x6b:
		overwrite(frame, instruction->reg);
		break;
	case 0x80 ... 0x81:
	case 0x83:
		calculate(frame, instruction);
		break;
	case 0x86 ... 0x87: /* XCHG */
		overwrite(frame, instruction->reg);
		overwrite_rm(frame, instruction);
		break;
	case 0x88 ... 0x8d:
		step_move(frame, instruction);
		break;
	case 0xc0 ... 0xc1: /* MOV and shifts of a register or memory */
	case 0xc6 ... 0xc7:
	case 0xd0 ... 0xd3:
	case 0xfe:
		overwrite_rm(frame, instruction);
		break;
	case 0xf6 ... 0xf7:
		step_group_f6(frame, instruction);
		break;
	case 0xff:
		step_group_ff(frame, instruction);
		break;
	default:
		step_implicit(frame, instruction);
		break;
	}
}

/* PUSH and POP of FS and GS. */
static bool step_segment(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	bool is_push = (instruction->opcode & 0xf7) == 0xa0;

	if (!is_push && (instruction->opcode & 0xf7) != 0xa1)
		return false;
	if (is_push)
		push(frame, instruction, -1);
	else
		pop(frame, instruction, -1);
	return true;
}

/* Few instructions of these maps write a general register; the same holds for their vector
 * encodings. */
static void step_0f(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	switch (instruction->opcode) {
	case 0x05: /* SYSCALL */
		overwrite_all(frame, REGISTERS(X86_RAX, X86_RCX, 11, 11));
		break;
	case 0x01: /* XGETBV and others */
	case 0x31: /* RDTSC, RDPMC, CPUID */
	case 0x33:
	case 0xa2:
		overwrite_all(frame, REGISTERS(X86_RAX, X86_RCX, X86_RDX, X86_RBX));
		break;
	case 0x2c: /* conversions, masks, words of vectors */
	case 0x2d:
	case 0x40 ... 0x4f: /* CMOVcc; also operations on mask registers, harmless here */
	case 0x50:
	case 0x93:
	case 0xaf:
	case 0xb6 ... 0xb8:
	case 0xbc ... 0xbf:
	case 0xc5:
	case 0xd7:
		overwrite(frame, instruction->reg);
		break;
	case 0x7e:
	case 0x90 ... 0x92: /* SETcc */
	case 0x94 ... 0x9f:
	case 0xa4 ... 0xa5:
	case 0xab ... 0xae: /* also RDFSBASE */
	case 0xb3:
	case 0xba ... 0xbb:
		overwrite_rm(frame, instruction);
		break;
	case 0xc7: /* RDRAND; CMPXCHG8B and CMPXCHG16B, which write both halves */
		overwrite_rm(frame, instruction);
		overwrite_all(frame, REGISTERS(X86_RAX, X86_RDX, X86_RDX, X86_RDX));
		break;
	case 0x78: /* VMREAD; with EVEX, also 0x79: unsigned conversions */
	case 0x79:
		if (instruction->is_vector)
			overwrite(frame, instruction->reg);
		else if (instruction->opcode == 0x78)
			overwrite_rm(frame, instruction);
		break;
	case 0xb0 ... 0xb1: /* CMPXCHG, XADD */
	case 0xc0 ... 0xc1:
		overwrite_rm(frame, instruction);
		overwrite(frame, instruction->reg);
		overwrite(frame, X86_RAX);
		break;
	case 0xc8 ... 0xcf: /* BSWAP */
		if (!instruction->is_vector)
			overwrite(frame, instruction->rm);
		break;
	}
}

void x86_frame_step(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	switch (instruction->map) {
	case X86_MAP_ONE_BYTE:
		step_one_byte(frame, instruction);
		break;
	case X86_MAP_0F:
		if (!step_segment(frame, instruction))
			step_0f(frame, instruction);
		break;
	case X86_MAP_0F38: /* CRC32, MOVBE, ADCX, BMI */
		/* A destination is in a field that is not decoded: BLSR and the like, MULX. */
		if (instruction->opcode == 0xf3 ||
		    (instruction->opcode == 0xf6 && instruction->is_vector))
			frame->copies = 0;
		if (instruction->opcode == 0xf3)
			break;
		if (instruction->opcode >= 0xf0)
			overwrite(frame, instruction->reg);
		break;
	case X86_MAP_0F3A: /* words of vectors, RORX */
		if (instruction->opcode >= 0x14 && instruction->opcode <= 0x17)
			overwrite_rm(frame, instruction);
		else if (instruction->opcode == 0x61 || instruction->opcode == 0x63)
			overwrite(frame, X86_RCX); /* PCMPESTRI, PCMPISTRI */
		else if (instruction->opcode == 0xf0)
			overwrite(frame, instruction->reg);
		break;
	}
}
