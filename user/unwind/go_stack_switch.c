// SPDX-License-Identifier: BSD-2-Clause
/* Derives how the functions of Go's run-time switch stacks. */
#include "unwind/go_stack_switch.h"

#include <string.h>

#include "instruction/x86_instruction.h"

#define DWARF_RDX	    1
#define OPCODE_LOAD	    0x8b
#define OPCODE_STORE	    0x89
#define OPCODE_SUB	    0x2b
#define OPCODE_GROUP_1	    0x83 /* sub, and, cmp with a byte */
#define OPCODE_GROUP_1_WORD 0x81
#define OPCODE_GROUP_C7	    0xc7
#define OPCODE_LEA	    0x8d
#define OPCODE_CALL	    0xe8
#define OPCODE_GROUP_FF	    0xff
#define OPCODE_RET	    0xc3
#define PREFIX_FS	    0x64
#define NO_OFFSET	    UINT32_MAX

static const struct pkbpf_unwind_rule unsupported_rule = {.cfa = PKBPF_CFA_UNSUPPORTED};

struct cursor {
	const uint8_t *code;
	size_t size;
	uint32_t at, next; /* offset of the instruction, and of its end */
	struct x86_instruction instruction;
};

static bool cursor_step(struct cursor *cursor)
{
	cursor->at = cursor->next;
	if (!x86_decode(cursor->code + cursor->at, cursor->size - cursor->at, &cursor->instruction))
		return false;
	cursor->next += cursor->instruction.size;
	return true;
}

static bool is_one_byte(const struct x86_instruction *instruction, uint8_t opcode)
{
	return instruction->map == X86_MAP_ONE_BYTE && !instruction->is_vector &&
	       instruction->opcode == opcode;
}

static bool is_load(const struct x86_instruction *instruction)
{
	return is_one_byte(instruction, OPCODE_LOAD) && instruction->is_wide;
}

/* A load whose address is a register and a displacement. */
static bool is_based_load(const struct x86_instruction *instruction)
{
	return is_load(instruction) && instruction->mod != 3 && instruction->has_base &&
	       instruction->index == X86_RSP;
}

static bool has_fs(const struct cursor *cursor)
{
	return cursor->code[cursor->at] == PREFIX_FS;
}

/* mov …,%rsp; lea …,%rsp; and …,%rsp: changes that the function's own table does not follow. */
static bool writes_sp(const struct x86_instruction *instruction)
{
	bool has_sp_and = (is_one_byte(instruction, OPCODE_GROUP_1) ||
			   is_one_byte(instruction, OPCODE_GROUP_1_WORD)) &&
			  (instruction->reg & 7) == 4 && instruction->mod == 3 &&
			  instruction->rm == X86_RSP;

	return has_sp_and ||
	       (is_one_byte(instruction, OPCODE_LEA) && instruction->reg == X86_RSP) ||
	       (is_load(instruction) && instruction->reg == X86_RSP) ||
	       (is_one_byte(instruction, OPCODE_STORE) && instruction->is_wide &&
		instruction->mod == 3 && instruction->rm == X86_RSP);
}

static bool is_move(const struct x86_instruction *instruction, uint8_t from, uint8_t to)
{
	if (!instruction->is_wide || instruction->mod != 3)
		return false;
	return (is_one_byte(instruction, OPCODE_STORE) && instruction->reg == from &&
		instruction->rm == to) ||
	       (is_one_byte(instruction, OPCODE_LOAD) && instruction->rm == from &&
		instruction->reg == to);
}

static bool is_call(const struct x86_instruction *instruction)
{
	return is_one_byte(instruction, OPCODE_CALL) ||
	       (is_one_byte(instruction, OPCODE_GROUP_FF) && (instruction->reg & 7) == 2);
}

/* The content of a register, as far as it matters here. */
struct value {
	enum { VALUE_OTHER, VALUE_NUMBER, VALUE_WORD_AT, VALUE_CHAIN } kind;
	int64_t number;	    /* the number, or the address of the word */
	int64_t offsets[2]; /* offsets of the loads that lead from g to the value */
	int depth;
};

/* An RIP-relative operand. */
static bool is_relative(const struct cursor *cursor)
{
	const uint8_t *code = cursor->code + cursor->at;

	return cursor->instruction.size == 7 && !cursor->instruction.has_base &&
	       cursor->instruction.mod == 0 && (code[2] & 0xc7) == 0x05;
}

/* mov %fs:…, register: loads the thread's g. */
static struct value load_g(const struct cursor *cursor, const struct value *registers,
			   struct go_layout *layout)
{
	const struct x86_instruction *instruction = &cursor->instruction;
	const struct value *base = &registers[instruction->rm];
	int64_t number = instruction->displacement;

	if (instruction->has_base) {
		if ((base->kind != VALUE_NUMBER && base->kind != VALUE_WORD_AT) || number)
			return (struct value){0};
		number = base->number;
	}
	if (number != (int32_t)number)
		return (struct value){0};
	layout->thread_g = (int32_t)number;
	layout->thread_g_is_address = instruction->has_base && base->kind == VALUE_WORD_AT;
	return (struct value){.kind = VALUE_CHAIN};
}

static struct value load(const struct cursor *cursor, const struct value *registers,
			 uint64_t address, struct go_layout *layout)
{
	const struct x86_instruction *instruction = &cursor->instruction;
	struct value value = {0};

	if (instruction->mod == 3)
		return registers[instruction->rm];
	if (has_fs(cursor))
		return load_g(cursor, registers, layout);
	if (is_relative(cursor))
		return (struct value){.kind = VALUE_WORD_AT,
				      .number = (int64_t)address + cursor->next +
						instruction->displacement};
	if (!is_based_load(instruction) || registers[instruction->rm].kind != VALUE_CHAIN ||
	    registers[instruction->rm].depth == 2)
		return value;
	value = registers[instruction->rm];
	value.offsets[value.depth++] = instruction->displacement;
	return value;
}

static void take_layout(const struct value *curg, int32_t g_sched_sp, struct go_layout *layout)
{
	int64_t g_m = curg->offsets[0], m_curg = curg->offsets[1];

	if (curg->kind != VALUE_CHAIN || curg->depth != 2 || g_m < 0 || g_m % 8 ||
	    g_m / 8 > UINT8_MAX || m_curg <= 0 || m_curg > INT16_MAX || g_sched_sp <= 0 ||
	    g_sched_sp > INT16_MAX)
		return;
	layout->g_m = (uint8_t)(g_m / 8);
	layout->m_curg = (int16_t)m_curg;
	layout->g_sched_sp = (int16_t)g_sched_sp;
	layout->is_known = true;
}

/* systemstack switches back with these loads: g from the thread, m from g, curg from m, stack
 * pointer from curg. */
struct go_layout go_layout_read(const uint8_t *code, size_t size, uint64_t address)
{
	struct cursor cursor = {.code = code, .size = size};
	struct value registers[X86_REGISTER_COUNT] = {0};
	struct go_layout layout = {0};

	while (cursor_step(&cursor)) {
		const struct x86_instruction *instruction = &cursor.instruction;

		if (is_call(instruction)) {
			memset(registers, 0, sizeof(registers));
		} else if (is_based_load(instruction) && instruction->reg == X86_RSP) {
			take_layout(&registers[instruction->rm], instruction->displacement,
				    &layout);
		} else if (is_load(instruction)) {
			registers[instruction->reg] = load(&cursor, registers, address, &layout);
		} else if (is_one_byte(instruction, OPCODE_GROUP_C7) && instruction->mod == 3) {
			registers[instruction->rm] = (struct value){
				.kind = VALUE_NUMBER, .number = instruction->immediate};
		} else if (is_one_byte(instruction, OPCODE_LEA)) {
			registers[instruction->reg] = (struct value){0};
		}
	}
	return layout;
}

struct reading {
	struct cursor cursor;
	const struct go_layout *layout;
	const struct go_switch_code *code;
	struct go_switch_rows *rows;
};

static int64_t distance_at(const struct reading *reading, uint32_t offset)
{
	return reading->code->distance(reading->code->context, offset);
}

static void add_row(struct reading *reading, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct go_switch_row *row = &reading->rows->items[reading->rows->count];

	if (reading->rows->count == GO_SWITCH_MAX_ROWS)
		return;
	reading->rows->count++;
	*row = (struct go_switch_row){.offset = offset, .is_plain = !rule};
	if (rule)
		row->rule = *rule;
}

/* Returns the end of the next instruction that writes the stack pointer; NO_OFFSET: none
 * follows. */
static uint32_t find_sp_write(struct cursor *cursor)
{
	while (cursor_step(cursor))
		if (writes_sp(&cursor->instruction))
			return cursor->next;
	return NO_OFFSET;
}

static struct pkbpf_unwind_rule stack_rule(const struct reading *reading, enum go_switch_kind kind,
					   int64_t distance)
{
	const struct go_layout *layout = reading->layout;
	struct pkbpf_unwind_rule rule = {
		.cfa = PKBPF_CFA_GO_STACK,
		.cfa_offset = layout->thread_g,
		.fp_offset = (int32_t)distance + 8,
		.fp = layout->thread_g_is_address,
		.aux = layout->g_m,
		.ra_offset = layout->m_curg,
		.go_offset = layout->g_sched_sp,
		.ra = PKBPF_GO_CALLER,
	};

	if (!layout->is_known || distance < 0 || distance > GO_SWITCH_MAX_CODE)
		return unsupported_rule;
	if (kind == GO_SWITCH_MORESTACK)
		rule.ra = PKBPF_GO_STOPPED;
	else if (kind == GO_SWITCH_CGOCALLBACK)
		rule.ra = PKBPF_GO_CALLED_BACK;
	return rule;
}

/* mov g(%rsp),%rdi; mov stack.hi(%rdi),%rsi; sub depth(%rsp),%rsi; or only the last, as a load. */
static struct pkbpf_unwind_rule read_slots(struct cursor cursor, int64_t distance)
{
	struct pkbpf_unwind_rule rule = {.cfa = PKBPF_CFA_GO_CALL,
					 .cfa_offset = (int32_t)distance + 8};
	const struct x86_instruction *instruction = &cursor.instruction;
	int32_t g_at;
	uint8_t g;

	if (distance < 0 || distance > GO_SWITCH_MAX_CODE || !cursor_step(&cursor))
		return unsupported_rule;
	/* Loads that find the thread's g may come first. */
	for (int i = 0; i < 2 && !is_based_load(instruction); i++)
		cursor_step(&cursor);
	if (!is_based_load(instruction) || instruction->rm != X86_RSP)
		return unsupported_rule;
	g = instruction->reg;
	g_at = instruction->displacement;
	if (!cursor_step(&cursor))
		return unsupported_rule;
	if (is_move(instruction, g, X86_RSP) && g_at >= 0 && g_at <= INT16_MAX) {
		rule.go_offset = (int16_t)g_at;
		return rule;
	}
	if (!is_based_load(instruction) || instruction->rm != g || instruction->displacement <= 0 ||
	    instruction->displacement > UINT8_MAX)
		return unsupported_rule;
	rule.aux = (uint8_t)instruction->displacement;
	rule.fp_offset = g_at;
	if (!cursor_step(&cursor) || !is_one_byte(instruction, OPCODE_SUB) ||
	    instruction->rm != X86_RSP || instruction->displacement < 0 ||
	    instruction->displacement > INT16_MAX)
		return unsupported_rule;
	rule.go_offset = (int16_t)instruction->displacement;
	return rule;
}

/* Adds rows from the switch of the stack pointer, across the call, to its restoration. */
static void read_call(struct reading *reading, bool has_copy)
{
	struct cursor *cursor = &reading->cursor;
	uint32_t changed = cursor->next;
	int64_t distance = distance_at(reading, changed);
	struct pkbpf_unwind_rule rule = unsupported_rule;

	if (has_copy && distance >= 0 && distance <= GO_SWITCH_MAX_CODE)
		rule = (struct pkbpf_unwind_rule){
			.cfa = PKBPF_CFA_REGISTER,
			.aux = DWARF_RDX,
			.cfa_offset = (int32_t)distance + 8,
			.fp = distance >= 8 ? PKBPF_FP_CFA : PKBPF_FP_SAME,
			.fp_offset = distance >= 8 ? -16 : 0,
			.ra_offset = -8,
		};
	add_row(reading, changed, &rule);
	while (cursor_step(cursor) && !is_call(&cursor->instruction))
		;
	if (!cursor->instruction.size)
		return;
	rule = read_slots(*cursor, distance);
	add_row(reading, cursor->at, &rule);
	changed = find_sp_write(cursor);
	if (changed != NO_OFFSET)
		add_row(reading, changed, NULL);
}

static bool is_sp_subtraction(const struct x86_instruction *instruction)
{
	return is_one_byte(instruction, OPCODE_GROUP_1) && instruction->is_wide &&
	       instruction->mod == 3 && instruction->rm == X86_RSP && (instruction->reg & 7) == 5;
}

/* rdx holds the old stack pointer until the call; words on the new stack hold it from then on. */
static void read_asmcgocall(struct reading *reading)
{
	struct cursor *cursor = &reading->cursor;
	bool has_copy = false;

	add_row(reading, 0, NULL);
	while (cursor_step(cursor) && !writes_sp(&cursor->instruction))
		has_copy |= is_move(&cursor->instruction, X86_RSP, X86_RDX);
	if (!cursor->instruction.size)
		return;
	read_call(reading, has_copy);
	/* The second path: already on a system stack, which is only aligned. */
	while (cursor_step(cursor) && !is_sp_subtraction(&cursor->instruction))
		;
	if (cursor->instruction.size)
		read_call(reading, has_copy);
}

/* Functions with a frame: the frame pointer holds its address whatever the stack pointer is. */
static void read_other(struct reading *reading)
{
	static const struct pkbpf_unwind_rule frame_rule = {
		.cfa = PKBPF_CFA_OTHER_STACK,
		.cfa_offset = 16,
		.fp = PKBPF_FP_FP,
		.ra_offset = -8,
	};
	struct cursor *cursor = &reading->cursor;
	const struct pkbpf_unwind_rule *rule = &unsupported_rule;
	uint32_t last = NO_OFFSET, changed = 0;

	add_row(reading, 0, NULL);
	while (cursor_step(cursor) && !writes_sp(&cursor->instruction)) {
		if (is_move(&cursor->instruction, X86_RSP, X86_RBP) ||
		    (is_one_byte(&cursor->instruction, OPCODE_LEA) &&
		     cursor->instruction.reg == X86_RBP))
			rule = &frame_rule;
	}
	if (!cursor->instruction.size)
		return;
	add_row(reading, cursor->next, rule);
	while (changed != NO_OFFSET) {
		changed = find_sp_write(cursor);
		last = changed == NO_OFFSET ? last : changed;
	}
	if (last == NO_OFFSET)
		return;
	add_row(reading, last, NULL);
	cursor->next = last;
	while (cursor_step(cursor))
		if (is_one_byte(&cursor->instruction, OPCODE_RET)) {
			add_row(reading, cursor->next, rule);
			return;
		}
}

/* One switch away, and one back unless the function never returns. */
static void read_switch(struct reading *reading, enum go_switch_kind kind)
{
	static const struct pkbpf_unwind_rule end_rule = {.cfa = PKBPF_CFA_END};
	struct pkbpf_unwind_rule rule = end_rule;
	uint32_t changed = find_sp_write(&reading->cursor);

	add_row(reading, 0, NULL);
	if (changed == NO_OFFSET)
		return;
	if (kind != GO_SWITCH_MCALL)
		rule = stack_rule(reading, kind, distance_at(reading, changed));
	add_row(reading, changed, &rule);
	if (kind != GO_SWITCH_SYSTEMSTACK && kind != GO_SWITCH_CGOCALLBACK)
		return;
	changed = find_sp_write(&reading->cursor);
	if (changed != NO_OFFSET)
		add_row(reading, changed, NULL);
}

void go_switch_read(enum go_switch_kind kind, const struct go_switch_code *code,
		    const struct go_layout *layout, struct go_switch_rows *ret_rows)
{
	struct reading reading = {
		.cursor = {.code = code->code, .size = code->size},
		.layout = layout,
		.code = code,
		.rows = ret_rows,
	};

	ret_rows->count = 0;
	if (kind == GO_SWITCH_OTHER)
		read_other(&reading);
	else if (kind == GO_SWITCH_ASMCGOCALL)
		read_asmcgocall(&reading);
	else
		read_switch(&reading, kind);
	if (ret_rows->count == 1)
		ret_rows->count = 0;
}
