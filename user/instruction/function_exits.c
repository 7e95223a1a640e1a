// SPDX-License-Identifier: BSD-2-Clause
/* Finds places for probes in the code of a function. */
#include "instruction/function_exits.h"

#include <stdlib.h>
#include <string.h>

#include "instruction/x86_flow.h"
#include "instruction/x86_probe.h"

/* Instructions from the start among which the entry may be. */
#define ENTRY_INSTRUCTIONS 8

struct decoding {
	const uint8_t *code;
	size_t size;
	struct function_probes *probes;
	uint32_t first_target; /* of the branches inside; behind the first instruction */
};

/* POP, PUSHF, POPF, ENTER, LEAVE, other PUSHes than of 8 bytes, INT. */
static bool moves_stack_otherwise(uint8_t opcode)
{
	static const uint8_t others[] = {0x68, 0x6a, 0x8f, 0x9c, 0x9d,
					 0xc8, 0xc9, 0xcc, 0xcd, 0xff};

	return (opcode >= 0x50 && opcode <= 0x5f) || memchr(others, opcode, sizeof(others));
}

static bool writes_rsp(const struct x86_instruction *instruction)
{
	uint8_t opcode = instruction->opcode;
	bool in_opcode = (opcode >= 0xb8 && opcode <= 0xbf) || (opcode >= 0x91 && opcode <= 0x97);

	/* MOV of RSP to another register only reads it. */
	if (opcode == 0x89 && instruction->reg == X86_RSP && instruction->rm != X86_RSP)
		return false;
	if (in_opcode && instruction->rm == X86_RSP)
		return true;
	return instruction->has_modrm && (instruction->reg == X86_RSP ||
					  (instruction->mod == 3 && instruction->rm == X86_RSP));
}

/* SUB of a number. */
static bool takes_from_rsp(const struct x86_instruction *instruction)
{
	return (instruction->reg & 7) == 5 && instruction->immediate >= 0 &&
	       instruction->immediate <= 1 << 20;
}

/* What an instruction before the entry takes from the stack pointer. false: it cannot be told, or
 * the code goes on elsewhere. */
static bool stack_change(const struct x86_instruction *instruction, uint32_t *bytes)
{
	uint8_t opcode = instruction->opcode;
	bool is_one_byte = instruction->map == X86_MAP_ONE_BYTE && !instruction->is_vector;

	if (x86_flow_of(instruction) != X86_FLOW_ON || x86_may_be_last(instruction))
		return false;
	if (!is_one_byte)
		return instruction->map == X86_MAP_0F || instruction->is_vector;
	if (opcode >= 0x50 && opcode <= 0x57 && !instruction->is_short) {
		*bytes += 8;
		return true;
	}
	if ((opcode == 0x83 || opcode == 0x81) && instruction->mod == 3 &&
	    instruction->rm == X86_RSP) {
		if (!takes_from_rsp(instruction))
			return false;
		*bytes += (uint32_t)instruction->immediate;
		return true;
	}
	return !moves_stack_otherwise(opcode) && !writes_rsp(instruction);
}

/* Where a direct branch leads, from the start of the function; means nothing for another
 * instruction, whose immediate may be as large as a register. */
static int64_t target_of(size_t at, const struct x86_instruction *instruction)
{
	return (int64_t)(at + instruction->size + (uint64_t)instruction->immediate);
}

/* May this instruction leave the function? Then it has a probe of its own. */
static bool is_exit(const struct decoding *decoding, size_t at,
		    const struct x86_instruction *instruction)
{
	enum x86_flow flow = x86_flow_of(instruction);
	int64_t target = target_of(at, instruction);

	if (flow == X86_FLOW_BRANCH || flow == X86_FLOW_JUMP)
		return target < 0 || target >= (int64_t)decoding->size;
	return flow != X86_FLOW_ON;
}

/* The entry goes to the first instruction that is emulated; else to the first one that can have a
 * probe at all. true: there is no better one. */
static bool take_entry(struct decoding *decoding, size_t at, uint32_t stack_bytes,
		       const struct x86_instruction *instruction, bool *found)
{
	struct function_probes *probes = decoding->probes;
	const uint8_t *code = decoding->code + at;
	bool emulated = x86_probe_is_emulated(code, instruction);

	if (x86_probe_breaks_forks(code, instruction->size) ||
	    x86_probe_is_refused(code, instruction->size) || is_exit(decoding, at, instruction))
		return false;
	if (!*found || emulated) {
		probes->entry = (uint32_t)at;
		probes->stack_bytes = stack_bytes;
		probes->is_emulated = emulated;
	}
	*found = true;
	return emulated;
}

static void find_entry(struct decoding *decoding)
{
	struct x86_instruction instruction;
	uint32_t bytes = 0;
	bool found = false;
	size_t at = 0;

	for (int i = 0; i < ENTRY_INSTRUCTIONS && at < decoding->size; i++) {
		if (!x86_decode(decoding->code + at, decoding->size - at, &instruction))
			break;
		/* More calls would seem to begin where other code jumps to. */
		if (at && at >= decoding->first_target)
			break;
		if (take_entry(decoding, at, bytes, &instruction, &found) ||
		    !stack_change(&instruction, &bytes))
			break;
		at += instruction.size;
	}
	if (found)
		return;
	/* A jump or a return alone: its probe sees calls, but no time passes. */
	if (x86_decode(decoding->code, decoding->size, &instruction) &&
	    is_exit(decoding, 0, &instruction))
		decoding->probes->refusal = FUNCTION_IS_ONE_JUMP;
	else
		decoding->probes->refusal = FUNCTION_HAS_NO_ENTRY;
}

static void add_exit(struct decoding *decoding, size_t at, enum function_exit_kind kind,
		     const struct x86_instruction *instruction)
{
	struct function_probes *probes = decoding->probes;
	struct function_exit *exit;

	if (probes->exit_count == FUNCTION_EXITS_MAX) {
		probes->refusal = FUNCTION_HAS_TOO_MANY_EXITS;
		return;
	}
	exit = &probes->exits[probes->exit_count++];
	*exit = (struct function_exit){
		.at = (uint32_t)at, .kind = kind, .instruction = *instruction};
	if (kind == FUNCTION_EXIT_BRANCH)
		exit->condition = instruction->opcode & 0xf;
}

/* The scale of the index of a memory operand, which the instruction does not have. */
static uint8_t scale_of(const uint8_t *code, const struct x86_instruction *instruction)
{
	/* [REX] FF /4 or /5 with a SIB byte; prefixes may be before them. */
	for (size_t i = 0; i + 2 < instruction->size; i++)
		if (code[i] == 0xff)
			return (uint8_t)(1 << (code[i + 2] >> 6));
	return 0;
}

static void note_target(struct decoding *decoding, size_t at,
			const struct x86_instruction *instruction, enum function_exit_kind kind)
{
	int64_t target = target_of(at, instruction);

	if (target < 0 || target >= (int64_t)decoding->size) {
		/* LOOP and JRCXZ test a register. */
		if (kind == FUNCTION_EXIT_BRANCH && instruction->map == X86_MAP_ONE_BYTE &&
		    instruction->opcode >= 0xe0)
			decoding->probes->refusal = FUNCTION_HAS_UNKNOWN_EXITS;
		else
			add_exit(decoding, at, kind, instruction);
		return;
	}
	if (target == 0)
		decoding->probes->has_loop = true;
	else if (target < decoding->first_target)
		decoding->first_target = (uint32_t)target;
}

static void note_jump_through(struct decoding *decoding, size_t at,
			      const struct x86_instruction *instruction)
{
	const uint8_t *code = decoding->code + at;
	bool has_index = instruction->mod != 3 && instruction->index != X86_RSP;
	/* Through a variable at a fixed address: another function. */
	bool is_always = instruction->mod == 0 && !instruction->has_base && !has_index;

	/* A segment's base is not known; far jumps do not happen. */
	if (*code == 0x64 || *code == 0x65 || (instruction->reg & 7) != 4) {
		decoding->probes->refusal = FUNCTION_HAS_UNKNOWN_EXITS;
		return;
	}
	/* Compilers mark jumps through their own tables: "notrack". */
	if (*code == 0x3e)
		return;
	add_exit(decoding, at, is_always ? FUNCTION_EXIT_ALWAYS : FUNCTION_EXIT_INDIRECT,
		 instruction);
	if (has_index && decoding->probes->exit_count)
		decoding->probes->exits[decoding->probes->exit_count - 1].scale =
			scale_of(code, instruction);
}

static bool decode_all(struct decoding *decoding)
{
	struct x86_instruction instruction;
	size_t at = 0;

	while (at < decoding->size) {
		const uint8_t *code = decoding->code + at;

		if (!x86_decode(code, decoding->size - at, &instruction))
			return false;
		switch (x86_flow_of(&instruction)) {
		case X86_FLOW_ON:
			break;
		case X86_FLOW_BRANCH:
			note_target(decoding, at, &instruction, FUNCTION_EXIT_BRANCH);
			break;
		case X86_FLOW_JUMP:
			note_target(decoding, at, &instruction, FUNCTION_EXIT_ALWAYS);
			break;
		case X86_FLOW_JUMP_THROUGH:
			note_jump_through(decoding, at, &instruction);
			break;
		case X86_FLOW_END:
			if (x86_is_return(&instruction))
				add_exit(decoding, at, FUNCTION_EXIT_ALWAYS, &instruction);
			break;
		}
		at += instruction.size;
	}
	return at == decoding->size;
}

/* Do all branches lead to where instructions begin? Otherwise what was decoded is data, at least
 * in part. */
static bool branches_fit(const struct decoding *decoding, uint8_t *starts)
{
	struct x86_instruction instruction;

	for (size_t at = 0; at < decoding->size; at += instruction.size) {
		x86_decode(decoding->code + at, decoding->size - at, &instruction);
		starts[at / 8] |= (uint8_t)(1 << at % 8);
	}
	for (size_t at = 0; at < decoding->size; at += instruction.size) {
		enum x86_flow flow;
		int64_t target;

		x86_decode(decoding->code + at, decoding->size - at, &instruction);
		flow = x86_flow_of(&instruction);
		target = target_of(at, &instruction);
		if ((flow == X86_FLOW_BRANCH || flow == X86_FLOW_JUMP) && target >= 0 &&
		    target < (int64_t)decoding->size && !(starts[target / 8] & 1 << target % 8))
			return false;
	}
	return true;
}

void function_probes_find(const uint8_t *code, size_t size, struct function_probes *ret_probes)
{
	struct decoding decoding = {code, size, ret_probes, UINT32_MAX};
	uint8_t *starts;

	memset(ret_probes, 0, sizeof(*ret_probes));
	starts = size && size < UINT32_MAX ? calloc(size / 8 + 1, 1) : NULL;
	if (!starts || !decode_all(&decoding) || !branches_fit(&decoding, starts)) {
		*ret_probes = (struct function_probes){.refusal = FUNCTION_IS_NOT_CODE};
		free(starts);
		return;
	}
	free(starts);
	if (ret_probes->refusal == FUNCTION_IS_KNOWN && !ret_probes->exit_count)
		ret_probes->refusal = FUNCTION_HAS_NO_EXIT;
	if (ret_probes->refusal != FUNCTION_IS_KNOWN && ret_probes->has_loop)
		ret_probes->refusal = FUNCTION_IS_LOOP;
	find_entry(&decoding);
}

bool function_probes_has_entry(const struct function_probes *probes)
{
	return probes->refusal != FUNCTION_IS_NOT_CODE &&
	       probes->refusal != FUNCTION_HAS_NO_ENTRY && probes->refusal != FUNCTION_IS_LOOP;
}

bool function_exit_is_direct(const struct function_exit *exit)
{
	enum x86_flow flow = x86_flow_of(&exit->instruction);

	return flow == X86_FLOW_BRANCH || flow == X86_FLOW_JUMP;
}

const char *function_refusal_text(enum function_refusal refusal)
{
	static const char *const texts[] = {
		[FUNCTION_IS_KNOWN] = "",
		[FUNCTION_IS_NOT_CODE] = "its code cannot be decoded to its end",
		[FUNCTION_HAS_NO_ENTRY] = "a probe on its first instructions might break it",
		[FUNCTION_HAS_TOO_MANY_EXITS] = "it has too many exits",
		[FUNCTION_HAS_UNKNOWN_EXITS] = "not all of its exits can be told",
		[FUNCTION_HAS_NO_EXIT] = "it has no exit",
		[FUNCTION_IS_LOOP] = "it begins with a loop",
		[FUNCTION_IS_ONE_JUMP] = "it is a single jump or return",
	};

	return texts[refusal];
}
