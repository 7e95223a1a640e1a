// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of the interpreter, and of the adapters between compiled and interpreted code. Their frames
 * are those of HotSpot's assembler; where a frame is made or left, instructions are recognized. A
 * form that is not known costs only stacks whose leaf is there.
 */
#include <string.h>

#include "instruction/x86_flow.h"
#include "unwind/hotspot/hotspot_rows_private.h"

/* Between a LEAVE and the jump to the caller. */
#define MAX_RETURN_INSTRUCTIONS 12
#define SENDER			13 /* register with the caller's stack pointer, where arguments are moved */

/* A frame of the interpreter. */
static struct pkbpf_unwind_rule rule_interpreted(void)
{
	return (struct pkbpf_unwind_rule){
		.cfa = PKBPF_CFA_FP_DEREF,
		.cfa_offset = -8,
		.fp = PKBPF_FP_FP,
		.ra = PKBPF_RA_FP,
		.ra_offset = 8,
		.saved = PKBPF_ALL_SAVED_UNKNOWN,
	};
}

/* Its frame pointer is set up; the word with the caller's stack pointer is not. */
static struct pkbpf_unwind_rule rule_being_made(void)
{
	return (struct pkbpf_unwind_rule){
		.cfa = PKBPF_CFA_REGISTER,
		.aux = SENDER,
		.fp = PKBPF_FP_FP,
		.ra = PKBPF_RA_FP,
		.ra_offset = 8,
		.saved = PKBPF_ALL_SAVED_UNKNOWN,
	};
}

/* Behind a call that a compiled caller's adapter makes with its stack aligned. */
static struct pkbpf_unwind_rule rule_aligned(void)
{
	return (struct pkbpf_unwind_rule){
		.cfa = PKBPF_CFA_REGISTER, .aux = SENDER, .cfa_offset = 8, .ra_offset = -8};
}

struct glue {
	struct hotspot_rows *rows;
	const uint8_t *code;
	size_t size;
	size_t offset; /* of `code` in the blob's */
	size_t at;     /* the instruction */
	struct x86_instruction instruction;
};

static bool next_is(const struct glue *glue, size_t skip, const char *bytes, size_t size)
{
	return glue->at + skip + size <= glue->size &&
	       memcmp(glue->code + glue->at + skip, bytes, size) == 0;
}

#define IS(glue, text)		    next_is(glue, 0, text, sizeof(text) - 1)
#define IS_BEHIND(glue, skip, text) next_is(glue, skip, text, sizeof(text) - 1)

static void give(const struct glue *glue, size_t skip, struct pkbpf_unwind_rule rule)
{
	hotspot_rows_give(glue->rows, glue->offset + glue->at + skip, &rule);
}

/* Decodes the instruction at glue->at. */
static bool decode(struct glue *glue)
{
	return glue->at < glue->size &&
	       x86_decode(glue->code + glue->at, glue->size - glue->at, &glue->instruction);
}

static bool is_pop(const struct x86_instruction *instruction)
{
	return instruction->map == X86_MAP_ONE_BYTE && (instruction->opcode & 0xf8) == 0x58;
}

/* mov %register,%rsp, in both encodings. Returns false when it is another instruction. */
static bool sets_stack_pointer(const struct x86_instruction *instruction, uint8_t *ret_from)
{
	if (instruction->map != X86_MAP_ONE_BYTE || instruction->mod != 3 || !instruction->is_wide)
		return false;
	if (instruction->opcode == 0x8b && instruction->reg == X86_RSP) {
		*ret_from = instruction->rm;
		return true;
	}
	*ret_from = instruction->reg;
	return instruction->opcode == 0x89 && instruction->rm == X86_RSP;
}

/* ---- interpreter ---- */

/* Looks for pop R, mov R2,%rsp and jmp *R behind a LEAVE, with other instructions between them.
 * Sets where the first and the last of them end. Returns false when there are none. */
static bool find_return(const struct glue *leave, uint8_t *ret_address, uint8_t *ret_stack_pointer,
			struct glue *ret_pop, struct glue *ret_jump)
{
	struct glue next = *leave;
	bool popped = false, moved = false;

	for (int i = 0; i < MAX_RETURN_INSTRUCTIONS; i++) {
		next.at += next.instruction.size;
		if (!decode(&next))
			return false;
		if (!popped && is_pop(&next.instruction)) {
			popped = true;
			*ret_address = next.instruction.rm;
			*ret_pop = next;
		} else if (popped && sets_stack_pointer(&next.instruction, ret_stack_pointer)) {
			moved = true;
		} else if (x86_flow_of(&next.instruction) == X86_FLOW_JUMP_THROUGH) {
			*ret_jump = next;
			return moved;
		}
	}
	return false;
}

/* A frame is left: the caller's stack pointer was put in a register before. */
static void pass_return(struct glue *glue)
{
	struct glue pop, jump;
	uint8_t address = 0, stack_pointer = 0;

	if (!find_return(glue, &address, &stack_pointer, &pop, &jump))
		return;
	give(glue, glue->instruction.size, hotspot_rule_sender(stack_pointer));
	give(&pop, pop.instruction.size, hotspot_rule_jump(stack_pointer, address));
	give(&jump, jump.instruction.size, rule_interpreted());
	glue->at = jump.at;
	glue->instruction = jump.instruction;
}

/* An entry moves the return address above the locals and makes a frame. */
static void pass_entry(struct glue *glue)
{
	bool popped = false, made = false;

	give(glue, 0, hotspot_rule_sender(SENDER));
	for (; decode(glue); glue->at += glue->instruction.size) {
		if (!popped && IS(glue, "\x58")) { /* pop %rax */
			popped = true;
			give(glue, 1, hotspot_rule_jump(SENDER, X86_RAX));
		} else if (popped && !made &&
			   (IS(glue, "\x55\x48\x8b\xec") || IS(glue, "\x55\x48\x89\xe5"))) {
			made = true;
			give(glue, 4, rule_being_made());
		} else if (made && IS(glue, "\x41\x55")) { /* push %r13 */
			give(glue, 2, rule_interpreted());
			glue->at += 2;
			return;
		} else if (popped && !made && x86_flow_of(&glue->instruction) == X86_FLOW_JUMP) {
			/* An exception: it has put the address back. */
			popped = false;
			give(glue, glue->instruction.size, hotspot_rule_sender(SENDER));
		} else if (!popped && x86_flow_of(&glue->instruction) == X86_FLOW_END) {
			break;
		}
	}
}

static void pass_codelet(struct glue *glue, const struct hotspot_codelet *codelet)
{
	if (strstr(codelet->description, "method entry point"))
		pass_entry(glue);
	for (; decode(glue); glue->at += glue->instruction.size)
		if (IS(glue, "\xc9")) /* leave */
			pass_return(glue);
}

void hotspot_rows_of_interpreter(struct hotspot_rows *rows)
{
	const struct hotspot_blob *blob = rows->blob;
	struct pkbpf_unwind_rule interpreted = rule_interpreted();
	uint64_t done = blob->code_begin;

	hotspot_rows_give(rows, 0, &interpreted);
	for (size_t i = 0; i < rows->hints->codelet_count && rows->code; i++) {
		const struct hotspot_codelet *codelet = &rows->hints->codelets[i];
		struct glue glue = {.rows = rows};

		if (codelet->code_begin < done || codelet->code_end > blob->code_end ||
		    codelet->code_begin >= codelet->code_end)
			continue;
		done = codelet->code_end;
		glue.offset = codelet->code_begin - blob->code_begin;
		glue.code = rows->code + glue.offset;
		glue.size = codelet->code_end - codelet->code_begin;
		pass_codelet(&glue, codelet);
		glue.at = glue.size;
		give(&glue, 0, interpreted);
	}
}

/* ---- adapters ---- */

/* To compiled code: the return address goes below the arguments. */
static void pass_move_down(struct glue *glue, bool leaves_it)
{
	give(glue, glue->instruction.size, hotspot_rule_jump(SENDER, X86_RAX));
	for (glue->at += glue->instruction.size; decode(glue); glue->at += glue->instruction.size) {
		if (IS(glue, "\x50")) { /* push %rax */
			give(glue, 1,
			     leaves_it ? hotspot_rule_sender(SENDER) : hotspot_rule_leaf());
			glue->at++;
			return;
		}
		if (x86_flow_of(&glue->instruction) == X86_FLOW_JUMP_THROUGH)
			return;
	}
}

/* mov %rsp,%r13; perhaps mov (%rsp),%rax; and $-16,%rsp */
static bool aligns_stack(const struct glue *glue)
{
	return (IS(glue, "\x4c\x8b\xec") || IS(glue, "\x49\x89\xe5")) &&
	       (IS_BEHIND(glue, 3, "\x48\x83\xe4\xf0") ||
		IS_BEHIND(glue, 3, "\x48\x8b\x04\x24\x48\x83\xe4\xf0"));
}

/* and $-16,%rsp … mov %r13,%rsp: a call of the run-time in between. */
static void pass_aligned_call(struct glue *glue)
{
	uint8_t from;

	give(glue, glue->instruction.size, rule_aligned());
	for (glue->at += glue->instruction.size; decode(glue); glue->at += glue->instruction.size)
		if (sets_stack_pointer(&glue->instruction, &from) && from == SENDER) {
			give(glue, glue->instruction.size, hotspot_rule_leaf());
			break;
		}
}

static void pass_pop(struct glue *glue, bool has_sender)
{
	/* mov %rsp,%r13 follows where the sender's stack pointer is not known yet. */
	if (IS_BEHIND(glue, 1, "\x4c\x8b\xec") || IS_BEHIND(glue, 1, "\x49\x89\xe5")) {
		give(glue, 1, hotspot_rule_jump(X86_RSP, X86_RAX));
		glue->at++;
		if (!decode(glue))
			return;
	}
	pass_move_down(glue, has_sender);
}

void hotspot_rows_of_adapter(struct hotspot_rows *rows)
{
	struct glue glue = {.rows = rows, .code = rows->code, .size = rows->size};
	/* The first way is the one to compiled code. The other may save and load registers. */
	bool has_sender = false, is_first = true;

	give(&glue, 0, hotspot_rule_leaf());
	while (decode(&glue)) {
		if (is_first && IS(&glue, "\x48\x8b\x04\x24")) { /* mov (%rsp),%rax */
			pass_move_down(&glue, false);
		} else if (IS(&glue, "\x58")) { /* pop %rax */
			pass_pop(&glue, has_sender);
		} else if (aligns_stack(&glue)) {
			pass_aligned_call(&glue);
			has_sender = false;
		} else if (IS(&glue, "\x4c\x8d\x6c\x24\x08")) { /* lea 8(%rsp),%r13 */
			has_sender = true;
		}
		if (!decode(&glue))
			break;
		glue.at += glue.instruction.size;
		if (x86_flow_of(&glue.instruction) == X86_FLOW_JUMP_THROUGH) {
			give(&glue, 0, hotspot_rule_leaf());
			has_sender = is_first = false;
		}
	}
}
