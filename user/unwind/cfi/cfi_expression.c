// SPDX-License-Identifier: BSD-2-Clause
/* Evaluates DWARF expressions symbolically, on a stack of register-relative values. */
#include "unwind/cfi/cfi_expression.h"

#include <string.h>

#include "base/array.h"
#include "elf/cfi_reader.h"

/* Compilers need two entries; the others leave room for explicit constants. */
#define STACK_DEPTH 8

enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_LIT3 = 0x33,
	OP_LIT8 = 0x38,
	OP_LIT15 = 0x3f,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG7 = 0x77,
	OP_BREG15 = 0x7f,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_NOP = 0x96,
	OP_CALL_FRAME_CFA = 0x9c,
};

struct stack {
	struct cfi_value values[STACK_DEPTH];
	unsigned int depth;
};

/* Linkers describe a lazy PLT by one expression: the CFA offset grows by 8 once the entry has
 * pushed its index. */
static bool is_plt(const uint8_t *data, size_t size, struct cfi_value *ret_value)
{
	static const uint8_t pattern[] = {
		OP_BREG7, 8,	   0x80,   0,	    OP_LIT15, OP_AND, OP_LIT0 /* threshold */,
		OP_GE,	  OP_LIT3, OP_SHL, OP_PLUS,
	};

	if (size != sizeof(pattern))
		return false;
	for (size_t i = 0; i < size; i++)
		if (pattern[i] != data[i] &&
		    (pattern[i] != OP_LIT0 || data[i] < OP_LIT0 || data[i] > OP_LIT15))
			return false;
	*ret_value = (struct cfi_value){.kind = CFI_VALUE_PLT, .offset = data[6] - OP_LIT0};
	return true;
}

/* OpenSSL's Montgomery multiplications save the stack pointer of their entry behind an array whose
 * length is in a register. */
static bool is_indexed(const uint8_t *data, size_t size, struct cfi_value *ret_value)
{
	static const uint8_t end[] = {0, OP_LIT8, OP_MUL, OP_PLUS, OP_DEREF, OP_PLUS_UCONST};

	if (size != 3 + sizeof(end) + 1 || data[0] != OP_BREG7 || data[1] >= 0x40 ||
	    data[2] < OP_BREG0 || data[2] > OP_BREG15 || memcmp(data + 3, end, sizeof(end)) != 0 ||
	    data[size - 1] >= 0x80)
		return false;
	*ret_value = (struct cfi_value){.kind = CFI_VALUE_INDEXED,
					.reg = data[2] - OP_BREG0,
					.offset = data[1],
					.addend = data[size - 1]};
	return true;
}

static bool push(struct stack *stack, struct cfi_value value)
{
	if (stack->depth == STACK_DEPTH)
		return false;
	stack->values[stack->depth++] = value;
	return true;
}

static bool push_constant(struct stack *stack, int64_t constant)
{
	return push(stack, (struct cfi_value){.kind = CFI_VALUE_CONSTANT, .offset = constant});
}

static bool push_register(struct stack *stack, uint64_t reg, int64_t offset)
{
	if (reg > UINT8_MAX)
		return false;
	return push(stack, (struct cfi_value){.kind = CFI_VALUE_REGISTER,
					      .reg = (uint8_t)reg,
					      .offset = offset});
}

static bool add_constant(struct stack *stack, int64_t constant)
{
	struct cfi_value *top;

	if (stack->depth == 0)
		return false;
	top = &stack->values[stack->depth - 1];
	if (top->kind == CFI_VALUE_DEREF)
		return !__builtin_add_overflow(top->addend, constant, &top->addend);
	return !__builtin_add_overflow(top->offset, constant, &top->offset);
}

static bool pop_constant(struct stack *stack, int64_t *ret_constant)
{
	if (stack->depth == 0 || stack->values[stack->depth - 1].kind != CFI_VALUE_CONSTANT)
		return false;
	*ret_constant = stack->values[--stack->depth].offset;
	return true;
}

/* DW_OP_plus; either operand may be the constant. */
static bool add_top(struct stack *stack)
{
	struct cfi_value *below;
	int64_t constant;

	if (stack->depth < 2)
		return false;
	if (pop_constant(stack, &constant))
		return add_constant(stack, constant);
	below = &stack->values[stack->depth - 2];
	if (below->kind != CFI_VALUE_CONSTANT)
		return false;
	constant = below->offset;
	*below = stack->values[--stack->depth];
	return add_constant(stack, constant);
}

static bool subtract_top(struct stack *stack)
{
	int64_t constant;

	return pop_constant(stack, &constant) && constant != INT64_MIN &&
	       add_constant(stack, -constant);
}

static bool dereference_top(struct stack *stack)
{
	struct cfi_value *top;

	if (stack->depth == 0)
		return false;
	top = &stack->values[stack->depth - 1];
	if (top->kind != CFI_VALUE_REGISTER)
		return false;
	top->kind = CFI_VALUE_DEREF;
	return true;
}

static bool run_constant(struct stack *stack, struct cfi_reader *reader, uint8_t op)
{
	switch (op) {
	case OP_CONST1U:
		return push_constant(stack, cfi_read_u8(reader));
	case OP_CONST1S:
		return push_constant(stack, (int8_t)cfi_read_u8(reader));
	case OP_CONST2U:
		return push_constant(stack, cfi_read_u16(reader));
	case OP_CONST2S:
		return push_constant(stack, (int16_t)cfi_read_u16(reader));
	case OP_CONST4U:
		return push_constant(stack, cfi_read_u32(reader));
	case OP_CONST4S:
		return push_constant(stack, (int32_t)cfi_read_u32(reader));
	case OP_CONST8U:
	case OP_CONST8S:
		return push_constant(stack, (int64_t)cfi_read_u64(reader));
	case OP_CONSTU:
		return push_constant(stack, (int64_t)cfi_read_uleb128(reader));
	case OP_CONSTS:
		return push_constant(stack, cfi_read_sleb128(reader));
	default:
		return false;
	}
}

static bool run_operation(struct stack *stack, struct cfi_reader *reader, uint8_t op)
{
	uint64_t reg;

	if (op >= OP_LIT0 && op <= OP_LIT31)
		return push_constant(stack, op - OP_LIT0);
	if (op >= OP_BREG0 && op <= OP_BREG31)
		return push_register(stack, op - OP_BREG0, cfi_read_sleb128(reader));
	switch (op) {
	case OP_NOP:
		return true;
	case OP_BREGX:
		reg = cfi_read_uleb128(reader);
		return push_register(stack, reg, cfi_read_sleb128(reader));
	case OP_CALL_FRAME_CFA:
		return push(stack, (struct cfi_value){.kind = CFI_VALUE_CFA});
	case OP_DEREF:
		return dereference_top(stack);
	case OP_PLUS_UCONST:
		return add_constant(stack, (int64_t)cfi_read_uleb128(reader));
	case OP_PLUS:
		return add_top(stack);
	case OP_MINUS:
		return subtract_top(stack);
	default:
		return run_constant(stack, reader, op);
	}
}

bool cfi_expression_reduce(const uint8_t *data, size_t size, bool starts_with_cfa,
			   struct cfi_value *ret_value)
{
	struct cfi_reader reader = {.at = data, .end = data + size};
	struct stack stack = {0};

	if (!starts_with_cfa &&
	    (is_plt(data, size, ret_value) || is_indexed(data, size, ret_value)))
		return true;
	if (starts_with_cfa)
		push(&stack, (struct cfi_value){.kind = CFI_VALUE_CFA});
	while (cfi_reader_left(&reader)) {
		if (!run_operation(&stack, &reader, cfi_read_u8(&reader)) || reader.failed)
			return false;
	}
	if (stack.depth == 0 || stack.values[stack.depth - 1].kind == CFI_VALUE_CONSTANT)
		return false;
	*ret_value = stack.values[stack.depth - 1];
	return true;
}
