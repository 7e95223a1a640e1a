// SPDX-License-Identifier: BSD-2-Clause
/* Reads the first instructions of a function. */
#include "source/alloc/probe_place.h"

#include <stdbool.h>
#include <string.h>

#include "instruction/x86_instruction.h"

#define MOST_BYTES 32

#if defined(__x86_64__)
static bool is_endbr(const uint8_t *code, size_t size)
{
	return size >= 4 && memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0;
}

/* What the kernel emulates (arch/x86/kernel/uprobes.c). */
static bool is_cheap(const struct x86_instruction *instruction)
{
	uint8_t opcode = instruction->opcode;

	if (instruction->is_vector || instruction->has_repeat || instruction->is_short)
		return false;
	if (instruction->map == X86_MAP_0F)
		return (opcode & 0xf0) == 0x80 || (opcode == 0x1f && instruction->size != 5);
	return instruction->map == X86_MAP_ONE_BYTE &&
	       ((opcode & 0xf8) == 0x50 || opcode == 0x90 || (opcode & 0xf0) == 0x70 ||
		opcode == 0xe8 || opcode == 0xe9 || opcode == 0xeb);
}

/* rax and r8 to r11 hold no argument of an allocator. */
static bool is_free(uint8_t reg)
{
	return reg == X86_RAX || (reg >= 8 && reg <= 11);
}

static bool changes_nothing(const struct x86_instruction *instruction)
{
	uint8_t opcode = instruction->opcode;

	if (instruction->is_vector)
		return false;
	if (instruction->map == X86_MAP_0F)
		return opcode == 0x1f;
	if (instruction->map != X86_MAP_ONE_BYTE)
		return false;
	switch (opcode) {
	case 0x84:
	case 0x85: /* test */
	case 0x38:
	case 0x39:
	case 0x3a:
	case 0x3b:
	case 0x3c:
	case 0x3d: /* cmp */
		return true;
	case 0x80:
	case 0x81:
	case 0x83: /* cmp with a number */
		return (instruction->reg & 7) == 7;
	case 0x8b:
	case 0x8d: /* mov, lea to a register */
		return is_free(instruction->reg);
	case 0x89:
		return instruction->mod == 3 && is_free(instruction->rm);
	default:
		return false;
	}
}

size_t probe_place_find(const uint8_t *code, size_t size)
{
	size_t at = 0;

	size = size < MOST_BYTES ? size : MOST_BYTES;
	while (at < size) {
		struct x86_instruction instruction;

		if (is_endbr(code + at, size - at)) {
			at += 4;
			continue;
		}
		if (!x86_decode(code + at, size - at, &instruction))
			return 0;
		if (is_cheap(&instruction))
			return at;
		if (!changes_nothing(&instruction))
			return 0;
		at += instruction.size;
	}
	return 0;
}
#else
size_t probe_place_find(const uint8_t *code, size_t size)
{
	(void)code;
	(void)size;
	return 0;
}
#endif
