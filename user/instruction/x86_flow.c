// SPDX-License-Identifier: BSD-2-Clause
/* Distinguishes branches, calls and returns, padding and code, prologues and function bodies. */
#include "instruction/x86_flow.h"

#include <string.h>

#define MAX_INSTRUCTIONS_TO_NEXT_SAVE 3

enum x86_flow x86_flow_of(const struct x86_instruction *instruction)
{
	uint8_t opcode = instruction->opcode;

	if (instruction->is_vector)
		return X86_FLOW_ON;
	if (instruction->map == X86_MAP_0F)
		return opcode >= 0x80 && opcode <= 0x8f ? X86_FLOW_BRANCH
		       : opcode == 0x0b			? X86_FLOW_END
							: X86_FLOW_ON;
	if (instruction->map != X86_MAP_ONE_BYTE)
		return X86_FLOW_ON;
	if ((opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xe0 && opcode <= 0xe3))
		return X86_FLOW_BRANCH;
	if (opcode == 0xe9 || opcode == 0xeb)
		return X86_FLOW_JUMP;
	if (opcode == 0xff && (instruction->reg & 6) == 4)
		return X86_FLOW_JUMP_THROUGH;
	if (opcode == 0xc2 || opcode == 0xc3)
		return X86_FLOW_END;
	return X86_FLOW_ON;
}

bool x86_is_return(const struct x86_instruction *instruction)
{
	return instruction->map == X86_MAP_ONE_BYTE &&
	       (instruction->opcode == 0xc2 || instruction->opcode == 0xc3);
}

bool x86_is_call(const struct x86_instruction *instruction)
{
	return instruction->map == X86_MAP_ONE_BYTE && instruction->opcode == 0xe8;
}

bool x86_is_own_address(const struct x86_instruction *instruction)
{
	return instruction->map == X86_MAP_ONE_BYTE && instruction->opcode == 0x8d &&
	       instruction->mod == 0 && !instruction->has_base && instruction->index == X86_RSP &&
	       instruction->is_wide;
}

bool x86_may_be_last(const struct x86_instruction *instruction)
{
	return x86_is_call(instruction) ||
	       (instruction->map == X86_MAP_ONE_BYTE &&
		(instruction->opcode == 0xf4 ||
		 (instruction->opcode == 0xff && (instruction->reg & 6) == 2)));
}

size_t x86_endbr64_size(const uint8_t *code, size_t size)
{
	static const uint8_t endbr64[X86_ENDBR64_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa};

	return size >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0
		       ? sizeof(endbr64)
		       : 0;
}

size_t x86_padding_size(const uint8_t *code, size_t size)
{
	struct x86_instruction instruction;

	switch (*code) {
	case INT3:
	case 0x90:
	case 0:
		return 1;
	case 0x0f:
	case 0x2e:
	case 0x3e:
	case 0x66:
		break;
	default:
		return 0;
	}
	if (!x86_decode(code, size, &instruction))
		return 0;
	if ((instruction.map == X86_MAP_0F && instruction.opcode == 0x1f &&
	     !instruction.is_vector) ||
	    (instruction.map == X86_MAP_ONE_BYTE && instruction.opcode == 0x90 &&
	     instruction.rm == X86_RAX))
		return instruction.size;
	return 0;
}

/* Pushes a callee-saved register. */
static bool is_save(const struct x86_instruction *instruction)
{
	return instruction->map == X86_MAP_ONE_BYTE && instruction->opcode >= 0x50 &&
	       instruction->opcode <= 0x57 &&
	       (1U << X86_RBX | 1U << X86_RBP | 0xf000) >> instruction->rm & 1;
}

static bool sets_up_frame_pointer(const struct x86_instruction *instruction)
{
	return instruction->map == X86_MAP_ONE_BYTE && instruction->opcode == 0x89 &&
	       instruction->is_wide && instruction->mod == 3 && instruction->rm == X86_RBP &&
	       instruction->reg == X86_RSP;
}

static bool saves_more(const uint8_t *code, size_t size)
{
	struct x86_instruction instruction;

	for (int i = 0; i < MAX_INSTRUCTIONS_TO_NEXT_SAVE && x86_decode(code, size, &instruction);
	     i++) {
		if (is_save(&instruction) || sets_up_frame_pointer(&instruction))
			return true;
		if (x86_flow_of(&instruction) != X86_FLOW_ON || x86_may_be_last(&instruction))
			return false;
		code += instruction.size;
		size -= instruction.size;
	}
	return false;
}

enum x86_beginning x86_beginning_of(const uint8_t *code, size_t size)
{
	struct x86_instruction instruction;

	if (x86_endbr64_size(code, size))
		return X86_BEGINS_A_FUNCTION;
	/* Quick rejection of most code: prologues begin with a REX prefix (also of LEA), PUSH, or
	 * SUB with a constant. */
	if (size == 0 ||
	    ((*code & 0xf0) != 0x40 && (*code & 0xf8) != 0x50 && (*code & 0xfd) != 0x81))
		return X86_BEGINS_NOTHING;
	if (!x86_decode(code, size, &instruction) || instruction.map != X86_MAP_ONE_BYTE)
		return X86_BEGINS_NOTHING;
	if (is_save(&instruction))
		return saves_more(code + instruction.size, size - instruction.size)
			       ? X86_BEGINS_A_FUNCTION_SURELY
			       : X86_BEGINS_A_FUNCTION;
	if ((instruction.opcode >= 0x50 && instruction.opcode <= 0x57) ||
	    ((instruction.opcode == 0x81 || instruction.opcode == 0x83) && instruction.mod == 3 &&
	     instruction.rm == X86_RSP) ||
	    (instruction.opcode == 0x8d && instruction.reg == X86_RSP && instruction.has_base &&
	     instruction.rm == X86_RSP && instruction.displacement < 0))
		return X86_BEGINS_WITH_ROOM;
	return X86_BEGINS_NOTHING;
}
