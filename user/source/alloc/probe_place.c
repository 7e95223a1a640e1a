// SPDX-License-Identifier: BSD-2-Clause
/* Reads the first instructions of a function. */
#include "source/alloc/probe_place.h"

#include <stdbool.h>
#include <string.h>

#include "instruction/x86_probe.h"

#define MOST_BYTES 32

#if defined(__x86_64__)
static bool is_endbr(const uint8_t *code, size_t size)
{
	return size >= 4 && memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0;
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

int probe_place_find(const uint8_t *code, size_t size)
{
	int none = x86_probe_breaks_forks(code, size) ? -1 : 0;
	size_t at = 0;

	size = size < MOST_BYTES ? size : MOST_BYTES;
	while (at < size) {
		struct x86_instruction instruction;

		if (is_endbr(code + at, size - at)) {
			at += 4;
			continue;
		}
		if (!x86_decode(code + at, size - at, &instruction))
			return none;
		if (x86_probe_is_emulated(code + at, &instruction))
			return (int)at;
		if (!changes_nothing(&instruction))
			return none;
		at += instruction.size;
	}
	return none;
}
#else
int probe_place_find(const uint8_t *code, size_t size)
{
	(void)code;
	(void)size;
	return 0;
}
#endif
