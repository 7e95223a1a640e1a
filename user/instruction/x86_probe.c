// SPDX-License-Identifier: BSD-2-Clause
/* Tells instructions that may have a probe, and what that costs. */
#include "instruction/x86_probe.h"

#include <string.h>

bool x86_probe_is_emulated(const uint8_t *code, const struct x86_instruction *instruction)
{
	uint8_t opcode = instruction->opcode;

	if (instruction->is_short || instruction->is_vector)
		return false;
	if (instruction->map == X86_MAP_0F)
		return opcode >= 0x80 && opcode <= 0x8f;
	if (instruction->map != X86_MAP_ONE_BYTE)
		return false;
	return (opcode >= 0x50 && opcode <= 0x57) || *code == 0x90 || opcode == 0xe8 ||
	       opcode == 0xe9 || opcode == 0xeb || (opcode >= 0x70 && opcode <= 0x7f);
}

bool x86_probe_is_refused(const uint8_t *code, size_t size)
{
	static const uint8_t refused[] = {0x26, 0x2e, 0x36, 0x3e, 0xf0};
	static const uint8_t others[] = {0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3};

	for (size_t i = 0; i < size; i++) {
		if (memchr(refused, code[i], sizeof(refused)))
			return true;
		if (!memchr(others, code[i], sizeof(others)))
			return false;
	}
	return false;
}

bool x86_probe_breaks_forks(const uint8_t *code, size_t size)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

	return size >= sizeof(nop) && memcmp(code, nop, sizeof(nop)) == 0;
}
