// SPDX-License-Identifier: BSD-2-Clause
#include "go_switch_check.h"

#include <stdlib.h>

#include "cfi_evaluator.h"
#include "instruction/x86_instruction.h"

#define MAX_CODE     1024
#define DWARF_RDX    1
#define NOT_A_COPY   INT64_MIN
#define OPCODE_POP   0x58 /* + register */
#define OPCODE_RET   0xc3
#define OPCODE_STORE 0x89
#define OPCODE_LOAD  0x8b
#define OPCODE_LEA   0x8d

/* What the code before a row does with the stack pointer. */
struct reading {
	uint64_t address;
	Dwarf_CFI *debug_frame;
	bool has_left;			    /* the stack pointer was set, or aligned */
	int64_t copies[X86_REGISTER_COUNT]; /* the CFA is the register + so many */
	uint32_t lost;			    /* bits: copies that were overwritten */
};

bool is_go_switch(const struct pkbpf_unwind_rule *rule)
{
	switch (rule->cfa) {
	case PKBPF_CFA_REGISTER:
	case PKBPF_CFA_END:
	case PKBPF_CFA_OTHER_STACK:
	case PKBPF_CFA_GO_STACK:
	case PKBPF_CFA_GO_CALL:
		return true;
	default:
		return false;
	}
}

/* Of the CFA from the stack pointer. */
static int64_t distance_at(const struct reading *reading)
{
	struct test_registers registers = {.values[TEST_SP] = 1U << 20};
	struct caller caller;
	Dwarf_Frame *frame;

	if (dwarf_cfi_addrframe(reading->debug_frame, reading->address, &frame) != 0)
		return NOT_A_COPY;
	caller_from_libdw(frame, &registers, &caller);
	free(frame);
	return caller.cfa_outcome == OUTCOME_VALUE
		       ? (int64_t)(caller.cfa - registers.values[TEST_SP])
		       : NOT_A_COPY;
}

static void read_instruction(struct reading *reading, const struct x86_instruction *instruction)
{
	uint8_t from = instruction->rm, to = instruction->reg;
	int64_t distance;

	if (instruction->map != X86_MAP_ONE_BYTE || instruction->is_vector)
		return;
	/* and …,%rsp */
	if ((instruction->opcode == 0x81 || instruction->opcode == 0x83) && instruction->mod == 3 &&
	    (instruction->reg & 7) == 4 && instruction->rm == X86_RSP)
		reading->has_left = true;
	if ((instruction->opcode & 0xf8) == OPCODE_POP)
		reading->lost |= 1U << instruction->rm;
	/* What follows is reached from before the epilogue. */
	if (instruction->opcode == OPCODE_RET)
		reading->lost = 0;
	if (!instruction->is_wide || (instruction->opcode == OPCODE_STORE && instruction->mod != 3))
		return;
	if (instruction->opcode == OPCODE_STORE) {
		from = instruction->reg;
		to = instruction->rm;
	} else if (instruction->opcode != OPCODE_LOAD && instruction->opcode != OPCODE_LEA) {
		return;
	}
	reading->has_left |= to == X86_RSP;
	reading->lost |= 1U << to;
	if (from != X86_RSP || (instruction->opcode == OPCODE_LOAD && instruction->mod != 3))
		return;
	distance = distance_at(reading);
	if (distance == NOT_A_COPY || reading->has_left)
		return;
	reading->copies[to] =
		distance -
		(instruction->opcode == OPCODE_LEA ? (int64_t)instruction->displacement : 0);
	reading->lost &= ~(1U << to);
}

static bool leads_back(const struct reading *reading, enum x86_register copy, int64_t offset)
{
	return reading->copies[copy] == offset && !(reading->lost >> copy & 1);
}

static const char *judge(const struct reading *reading, const struct pkbpf_unwind_rule *rule)
{
	if (!reading->has_left)
		return "another stack, but the code has not left its own";
	if (rule->cfa == PKBPF_CFA_OTHER_STACK && !leads_back(reading, X86_RBP, rule->cfa_offset))
		return "the frame pointer does not lead to the stack that was left";
	if (rule->cfa == PKBPF_CFA_REGISTER &&
	    (rule->aux != DWARF_RDX || !leads_back(reading, X86_RDX, rule->cfa_offset)))
		return "the register does not lead to the stack that was left";
	return NULL;
}

const char *go_switch_check(const struct elf_file *image, Dwarf_CFI *debug_frame, uint64_t function,
			    uint64_t address, const struct pkbpf_unwind_rule *rule)
{
	struct reading reading = {.address = function, .debug_frame = debug_frame};
	size_t size = address - function, at = 0;
	uint8_t code[MAX_CODE];

	for (size_t i = 0; i < X86_REGISTER_COUNT; i++)
		reading.copies[i] = NOT_A_COPY;
	if (size > sizeof(code) || elf_file_read_address(image, function, code, size))
		return "code of another stack cannot be read";
	while (at < size) {
		struct x86_instruction instruction;

		/* A row of libdw's may begin within an instruction. */
		if (!x86_decode(code + at, size - at, &instruction))
			break;
		read_instruction(&reading, &instruction);
		at += instruction.size;
		reading.address = function + at;
	}
	return judge(&reading, rule);
}
