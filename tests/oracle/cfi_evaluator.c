// SPDX-License-Identifier: BSD-2-Clause
/* Evaluates DWARF operations and unwind rules numerically. */
#include "cfi_evaluator.h"

#include <dwarf.h>
#include <string.h>

#define STACK_DEPTH 32

uint64_t test_memory_read(uint64_t address)
{
	uint64_t value = address * UINT64_C(0x9e3779b97f4a7c15);

	value ^= value >> 29;
	value *= UINT64_C(0xbf58476d1ce4e5b9);
	return value ^ value >> 32;
}

struct machine {
	const struct test_registers *registers;
	uint64_t cfa;
	uint64_t stack[STACK_DEPTH];
	unsigned int depth;
	bool is_value;
	bool failed;
};

static void push(struct machine *machine, uint64_t value)
{
	if (machine->depth == STACK_DEPTH)
		machine->failed = true;
	else
		machine->stack[machine->depth++] = value;
}

static uint64_t pop(struct machine *machine)
{
	if (machine->depth == 0) {
		machine->failed = true;
		return 0;
	}
	return machine->stack[--machine->depth];
}

static uint64_t read_register(struct machine *machine, uint64_t number)
{
	if (number < TEST_REGISTERS)
		return machine->registers->values[number];
	machine->failed = true;
	return 0;
}

static void run_binary(struct machine *machine, uint8_t atom)
{
	uint64_t right = pop(machine);
	uint64_t left = pop(machine);

	switch (atom) {
	case DW_OP_plus:
		push(machine, left + right);
		break;
	case DW_OP_minus:
		push(machine, left - right);
		break;
	case DW_OP_mul:
		push(machine, left * right);
		break;
	case DW_OP_and:
		push(machine, left & right);
		break;
	case DW_OP_or:
		push(machine, left | right);
		break;
	case DW_OP_shl:
		push(machine, right < 64 ? left << right : 0);
		break;
	case DW_OP_shr:
		push(machine, right < 64 ? left >> right : 0);
		break;
	case DW_OP_ge:
		push(machine, (int64_t)left >= (int64_t)right);
		break;
	case DW_OP_le:
		push(machine, (int64_t)left <= (int64_t)right);
		break;
	default:
		machine->failed = true;
	}
}

static void run_operation(struct machine *machine, const Dwarf_Op *op)
{
	uint8_t atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		push(machine, atom - DW_OP_lit0);
	} else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		push(machine, read_register(machine, atom - DW_OP_breg0) + op->number);
	} else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
		push(machine, read_register(machine, atom - DW_OP_reg0));
		machine->is_value = true;
	} else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
		push(machine, op->number);
	} else if (atom == DW_OP_bregx) {
		push(machine, read_register(machine, op->number) + op->number2);
	} else if (atom == DW_OP_regx) {
		push(machine, read_register(machine, op->number));
		machine->is_value = true;
	} else if (atom == DW_OP_plus_uconst) {
		push(machine, pop(machine) + op->number);
	} else if (atom == DW_OP_deref) {
		push(machine, test_memory_read(pop(machine)));
	} else if (atom == DW_OP_call_frame_cfa) {
		push(machine, machine->cfa);
	} else if (atom == DW_OP_stack_value) {
		machine->is_value = true;
	} else if (atom != DW_OP_nop) {
		run_binary(machine, atom);
	}
}

/* The CFA is the top of the stack itself; a register is what lies at the top, unless a value is
 * said. */
static enum outcome run(const Dwarf_Op *ops, size_t count, const struct test_registers *registers,
			uint64_t cfa, bool is_cfa, uint64_t *ret_value)
{
	struct machine machine = {.registers = registers, .cfa = cfa};
	uint64_t top;

	for (size_t i = 0; i < count && !machine.failed; i++)
		run_operation(&machine, &ops[i]);
	top = pop(&machine);
	if (machine.failed)
		return OUTCOME_UNKNOWN;
	*ret_value = is_cfa || machine.is_value ? top : test_memory_read(top);
	return OUTCOME_VALUE;
}

/* Saved at the CFA plus a constant, or untouched. */
/* rbx, r12 to r15; of arm64 none is followed. */
static const int kept_numbers[PKBPF_KEPT_REGISTERS] = {3, 12, 13, 14, 15};

static bool is_simple_register(const Dwarf_Op *ops, size_t count, const Dwarf_Op *memory)
{
	if (count == 0)
		return true;
	if (ops[0].atom != DW_OP_call_frame_cfa || ops[count - 1].atom == DW_OP_stack_value)
		return false;
	return count == 1 || (count == 2 && ops[1].atom == DW_OP_plus_uconst);
}

static enum outcome register_from_libdw(Dwarf_Frame *frame, int number,
					const struct test_registers *registers, uint64_t cfa,
					bool *is_simple, uint64_t *ret_value)
{
	Dwarf_Op memory[3];
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
		return OUTCOME_UNKNOWN;
	if (!is_simple_register(ops, count, memory))
		*is_simple = false;
	if (count == 0 && ops == memory)
		return OUTCOME_UNDEFINED;
	if (count == 0) {
		*ret_value = registers->values[number];
		return OUTCOME_VALUE;
	}
	return run(ops, count, registers, cfa, false, ret_value);
}

void caller_from_libdw(Dwarf_Frame *frame, const struct test_registers *registers,
		       struct caller *ret_caller)
{
	struct caller caller = {.is_simple = false};
	bool sp_is_simple = true;
	Dwarf_Op memory[3];
	Dwarf_Op *ops;
	size_t count;

	caller.cfa_outcome = OUTCOME_UNKNOWN;
	if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count > 0) {
		caller.cfa_outcome = run(ops, count, registers, 0, true, &caller.cfa);
		caller.is_simple = count == 1 && ops[0].atom >= DW_OP_breg0 &&
				   ops[0].atom < DW_OP_breg0 + TEST_PC;
	}
	caller.fp_outcome = register_from_libdw(frame, TEST_FP, registers, caller.cfa,
						&caller.is_simple, &caller.fp);
	caller.ra_outcome = register_from_libdw(frame, TEST_RA, registers, caller.cfa,
						&caller.is_simple, &caller.ra);
	for (size_t i = 0; i < PKBPF_KEPT_REGISTERS; i++)
		caller.kept_outcome[i] =
			register_from_libdw(frame, kept_numbers[i], registers, caller.cfa,
					    &sp_is_simple, &caller.kept[i]);
	/* Unless a program says otherwise, libdw states the convention as "value of the CFA". */
	caller.sp_outcome = register_from_libdw(frame, TEST_SP, registers, caller.cfa,
						&sp_is_simple, &caller.sp);
	if (dwarf_frame_register(frame, TEST_SP, memory, &ops, &count) != 0 ||
	    caller.sp_outcome != OUTCOME_VALUE || caller.sp != caller.cfa)
		caller.is_simple = false;
	*ret_caller = caller;
}

static void caller_of_signal(const struct test_registers *registers, struct caller *caller)
{
#if defined(__aarch64__)
	/* struct rt_sigframe lies at the stack pointer, its registers 312 bytes on: x0…x30 sp
	 * pc. */
	enum { SAVED_AT = 312, SAVED_FP = 29, SAVED_SP = 31, SAVED_PC = 32 };
#else
	/* struct ucontext lies at the stack pointer, its registers 40 bytes on: r8…r15 rdi rsi rbp
	 * rbx rdx rax rcx rsp rip. */
	enum { SAVED_AT = 40, SAVED_FP = 10, SAVED_SP = 15, SAVED_PC = 16 };
#endif
	uint64_t saved = registers->values[TEST_SP] + SAVED_AT;

	caller->fp = test_memory_read(saved + SAVED_FP * 8);
	for (size_t i = 0; i < PKBPF_KEPT_REGISTERS; i++)
		caller->kept_outcome[i] = OUTCOME_UNKNOWN; /* the step reads them all */
	caller->cfa = test_memory_read(saved + SAVED_SP * 8);
	caller->sp = caller->cfa;
	caller->ra = test_memory_read(saved + SAVED_PC * 8);
}

static uint64_t cfa_of_rule(const struct pkbpf_unwind_rule *rule, const uint64_t *values)
{
	int64_t offset = rule->cfa_offset;

	switch (rule->cfa) {
	case PKBPF_CFA_SP:
		return values[TEST_SP] + offset;
	case PKBPF_CFA_FP:
		return values[TEST_FP] + offset;
	case PKBPF_CFA_REGISTER:
		return values[rule->aux & (TEST_PC - 1)] + offset;
	case PKBPF_CFA_SP_DEREF:
		return test_memory_read(values[TEST_SP] + offset) + 8 * (uint64_t)rule->aux;
	case PKBPF_CFA_FP_DEREF:
		return test_memory_read(values[TEST_FP] + offset) + 8 * (uint64_t)rule->aux;
	case PKBPF_CFA_REGISTER_DEREF:
		return test_memory_read(values[rule->aux & 15] + offset) +
		       8 * (uint64_t)(rule->aux >> 4);
	case PKBPF_CFA_SP_INDEXED:
		return test_memory_read(values[TEST_SP] + offset + 8 * values[rule->aux & 15]) +
		       8 * (uint64_t)(rule->aux >> 4);
	default: /* PKBPF_CFA_PLT */
		return values[TEST_SP] + 8 + ((values[TEST_PC] & 15) >= (uint64_t)offset ? 8 : 0);
	}
}

static void caller_of_jump(const struct pkbpf_unwind_rule *rule, const uint64_t *values,
			   struct caller *caller)
{
	uint64_t base = values[rule->aux & (TEST_PC - 1)];

	caller->cfa = base;
	if (rule->cfa == PKBPF_CFA_JUMP) {
		caller->sp = base;
		caller->fp = values[rule->fp_offset & (TEST_PC - 1)];
		caller->ra = values[rule->ra_offset & (TEST_PC - 1)];
	} else {
		caller->sp = test_memory_read(base + (int64_t)rule->cfa_offset);
		caller->fp = test_memory_read(base + (int64_t)rule->fp_offset);
		caller->ra = test_memory_read(base + (int64_t)rule->ra_offset);
	}
}

static void keep_by_rule(const struct pkbpf_unwind_rule *rule, const uint64_t *values,
			 struct caller *caller)
{
	for (size_t i = 0; i < PKBPF_KEPT_REGISTERS; i++) {
		int64_t offset = PKBPF_SAVED_OFFSET(rule->saved[i]);

		switch (PKBPF_SAVED_KIND(rule->saved[i])) {
		case PKBPF_SAVED_NOT:
			caller->kept[i] = values[kept_numbers[i]];
			break;
		case PKBPF_SAVED_CFA:
			caller->kept[i] = test_memory_read(caller->cfa + offset);
			break;
		case PKBPF_SAVED_FP:
			caller->kept[i] = test_memory_read(values[TEST_FP] + offset);
			break;
		default:
			caller->kept_outcome[i] = OUTCOME_UNKNOWN;
		}
	}
}

void caller_from_rule(const struct pkbpf_unwind_rule *rule, const struct test_registers *registers,
		      struct caller *ret_caller)
{
	const uint64_t *values = registers->values;
	struct caller caller = {0};

	if (rule->cfa == PKBPF_CFA_SIGNAL) {
		caller_of_signal(registers, &caller);
		*ret_caller = caller;
		return;
	}
	if (rule->cfa == PKBPF_CFA_JUMP || rule->cfa == PKBPF_CFA_JUMP_SAVED) {
		caller_of_jump(rule, values, &caller);
		keep_by_rule(rule, values, &caller);
		*ret_caller = caller;
		return;
	}
	caller.cfa = cfa_of_rule(rule, values);
	caller.sp = caller.cfa;
	if (rule->fp == PKBPF_FP_SAME)
		caller.fp = values[TEST_FP];
	else if (rule->fp == PKBPF_FP_CFA)
		caller.fp = test_memory_read(caller.cfa + (int64_t)rule->fp_offset);
	else if (rule->fp == PKBPF_FP_FP)
		caller.fp = test_memory_read(values[TEST_FP] + (int64_t)rule->fp_offset);
	else
		caller.fp_outcome = OUTCOME_UNDEFINED;
	if (rule->ra == PKBPF_RA_CFA)
		caller.ra = test_memory_read(caller.cfa + (int64_t)rule->ra_offset);
	else if (rule->ra == PKBPF_RA_LINK)
		caller.ra = values[TEST_RA];
	else
		caller.ra = values[rule->ra_offset & (TEST_PC - 1)];
	keep_by_rule(rule, values, &caller);
	*ret_caller = caller;
}
