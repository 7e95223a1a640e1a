// SPDX-License-Identifier: BSD-2-Clause
/* Interprets call frame programs. */
#include "unwind/cfi/cfi_program.h"

#include "unwind/cfi/cfi_expression.h"
#include "elf/cfi_reader.h"

enum {
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_OPERAND_MASK = 0x3f,
};

/* x86-64: offset of the interrupted rsp from the stack pointer at the trampoline's start. The
 * ucontext words before r8 and the registers before rsp precede it. */
#define SIGNAL_SP_AT 160

struct run {
	const struct cfi_machine *machine;
	const struct cfi_context *context;
	struct cfi_reader reader;
	struct cfi_state state;
	struct cfi_state remembered[CFI_REMEMBER_DEPTH];
	unsigned int remembered_count;
	bool changed; /* the state differs from the last row */
};

static inline enum cfi_column column_of(const struct run *run, uint64_t reg)
{
	return reg < CFI_MACHINE_REGISTERS ? run->machine->columns[reg] : CFI_COLUMN_NONE;
}

static inline uint16_t saved_in(const struct cfi_state *state, enum cfi_column column)
{
	unsigned int at = column - CFI_COLUMN_KEPT;

	return (uint16_t)(state->saved[at / 4] >> at % 4 * 16);
}

static inline void set_saved(struct cfi_state *state, enum cfi_column column, uint16_t saved)
{
	unsigned int at = column - CFI_COLUMN_KEPT;
	uint64_t *word = &state->saved[at / 4];

	*word = (*word & ~(UINT64_C(0xffff) << at % 4 * 16)) | (uint64_t)saved << at % 4 * 16;
}

static inline int16_t saved_at(enum cfi_cell_kind kind, int64_t offset)
{
	if (kind == CFI_CELL_UNSPECIFIED || kind == CFI_CELL_SAME)
		return PKBPF_SAVED_NOT;
	if ((kind != CFI_CELL_CFA && kind != CFI_CELL_FP) || offset % 8 ||
	    offset < -PKBPF_SAVED_MAX_BYTES || offset > PKBPF_SAVED_MAX_BYTES)
		return PKBPF_SAVED_UNKNOWN;
	return PKBPF_SAVED(kind == CFI_CELL_CFA ? PKBPF_SAVED_CFA : PKBPF_SAVED_FP,
			   (int32_t)offset);
}

static inline void set_column(struct run *run, uint64_t reg, enum cfi_cell_kind kind,
			      int64_t offset)
{
	enum cfi_column column = column_of(run, reg);
	struct cfi_cell *cell;

	if (!column)
		return;
	run->changed = true;
	if (column >= CFI_COLUMN_KEPT) {
		set_saved(&run->state, column, (uint16_t)saved_at(kind, offset));
		return;
	}
	if (offset < INT32_MIN || offset > INT32_MAX) {
		kind = CFI_CELL_UNSUPPORTED;
		offset = 0;
	}
	cell = &run->state.columns[column];
	cell->kind = kind;
	cell->offset = (int32_t)offset;
}

static inline void set_column_factored(struct run *run, uint64_t reg, enum cfi_cell_kind kind,
				       int64_t factored)
{
	int64_t offset;

	if (__builtin_mul_overflow(factored, run->context->data_align, &offset))
		offset = INT64_MAX;
	set_column(run, reg, kind, offset);
}

static void restore_column(struct run *run, uint64_t reg)
{
	enum cfi_column column = column_of(run, reg);

	if (!column)
		return;
	run->changed = true;
	if (column >= CFI_COLUMN_KEPT)
		set_saved(&run->state, column, saved_in(&run->context->initial, column));
	else
		run->state.columns[column] = run->context->initial.columns[column];
}

static void set_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	struct cfi_state *state = &run->state;

	run->changed = true;
	state->cfa_offset = offset;
	state->cfa_register = (uint8_t)reg;
	if (reg == run->machine->stack_pointer)
		state->cfa = PKBPF_CFA_SP;
	else if (reg == run->machine->frame_pointer)
		state->cfa = PKBPF_CFA_FP;
	else if (reg < run->machine->registers && reg != run->machine->return_address)
		state->cfa = PKBPF_CFA_REGISTER;
	else
		state->cfa = PKBPF_CFA_UNSUPPORTED;
}

static inline void set_cfa_offset(struct run *run, int64_t offset)
{
	run->state.cfa_offset = offset;
	run->changed = true;
}

static int64_t factor_cfa_offset(const struct run *run, int64_t factored)
{
	int64_t offset;

	/* INT64_MAX fits in no rule and makes the row UNSUPPORTED. */
	if (__builtin_mul_overflow(factored, run->context->data_align, &offset))
		return INT64_MAX;
	return offset;
}

static const uint8_t *read_block(struct run *run, size_t *ret_size)
{
	uint64_t size = cfi_read_uleb128(&run->reader);
	const uint8_t *data = run->reader.at;

	cfi_skip(&run->reader, size);
	*ret_size = run->reader.failed ? 0 : (size_t)size;
	return data;
}

/* The CFA is a word in memory plus a small addend. */
static void set_cfa_dereferenced(struct run *run, const struct cfi_value *value)
{
	struct cfi_state *state = &run->state;
	uint8_t words = (uint8_t)(value->addend / 8);

	state->cfa_deref_offset = value->offset;
	state->cfa_aux = words;
	if (value->reg == run->machine->stack_pointer) {
		state->cfa = PKBPF_CFA_SP_DEREF;
	} else if (value->reg == run->machine->frame_pointer) {
		state->cfa = PKBPF_CFA_FP_DEREF;
	} else if (value->reg < 16 && words < 16 && !run->machine->has_link_register) {
		state->cfa = PKBPF_CFA_REGISTER_DEREF;
		state->cfa_aux = (uint8_t)(value->reg | words << 4);
	}
}

static void set_cfa_expression(struct run *run)
{
	struct cfi_state *state = &run->state;
	struct cfi_value value;
	size_t size;
	const uint8_t *data = read_block(run, &size);

	run->changed = true;
	state->cfa = PKBPF_CFA_UNSUPPORTED;
	state->cfa_aux = 0;
	if (!cfi_expression_reduce(data, size, false, &value))
		return;
	if (value.kind == CFI_VALUE_REGISTER) {
		set_cfa(run, value.reg, value.offset);
	} else if (value.kind == CFI_VALUE_PLT && run->machine->stack_pointer == 7) {
		state->cfa = PKBPF_CFA_PLT;
		state->cfa_deref_offset = value.offset;
	} else if (value.kind == CFI_VALUE_INDEXED && run->machine->stack_pointer == 7 &&
		   value.addend % 8 == 0) {
		state->cfa = PKBPF_CFA_SP_INDEXED;
		state->cfa_deref_offset = value.offset;
		state->cfa_aux = (uint8_t)(value.reg | value.addend / 8 << 4);
	} else if (value.kind == CFI_VALUE_DEREF && value.addend % 8 == 0 && value.addend >= 0 &&
		   value.addend / 8 <= UINT8_MAX) {
		set_cfa_dereferenced(run, &value);
	}
}

static void set_column_expression(struct run *run)
{
	uint64_t reg = cfi_read_uleb128(&run->reader);
	struct cfi_value value;
	size_t size;
	const uint8_t *data = read_block(run, &size);

	if (!column_of(run, reg))
		return;
	if (!cfi_expression_reduce(data, size, true, &value))
		set_column(run, reg, CFI_CELL_UNSUPPORTED, 0);
	else if (value.kind == CFI_VALUE_CFA)
		set_column(run, reg, CFI_CELL_CFA, value.offset);
	else if (value.kind == CFI_VALUE_REGISTER && value.reg == run->machine->frame_pointer)
		set_column(run, reg, CFI_CELL_FP, value.offset);
	else if (value.kind == CFI_VALUE_REGISTER && value.reg == run->machine->stack_pointer)
		set_column(run, reg, CFI_CELL_SP, value.offset);
	else if (value.kind == CFI_VALUE_REGISTER && run->state.cfa == PKBPF_CFA_REGISTER &&
		 value.reg == run->state.cfa_register)
		/* Stored relative to the CFA: the register may change before another register
		 * defines the CFA. */
		set_column(run, reg, CFI_CELL_CFA, value.offset - run->state.cfa_offset);
	else
		set_column(run, reg, CFI_CELL_UNSUPPORTED, 0);
}

static void skip_value_expression(struct run *run)
{
	uint64_t reg = cfi_read_uleb128(&run->reader);
	size_t size;

	read_block(run, &size);
	set_column(run, reg, CFI_CELL_UNSUPPORTED, 0);
}

static bool restore_state(struct run *run)
{
	if (run->remembered_count == 0)
		return false;
	run->state = run->remembered[--run->remembered_count];
	run->changed = true;
	return true;
}

static bool remember_state(struct run *run)
{
	if (run->remembered_count == CFI_REMEMBER_DEPTH)
		return false;
	run->remembered[run->remembered_count++] = run->state;
	return true;
}

static void set_column_register(struct run *run)
{
	uint64_t reg = cfi_read_uleb128(&run->reader), source = cfi_read_uleb128(&run->reader);

	if (source < run->machine->registers)
		set_column(run, reg, CFI_CELL_REGISTER, (int64_t)source);
	else
		set_column(run, reg, CFI_CELL_UNSUPPORTED, 0);
}

/* Handles the instructions that define the CFA. Returns false for any other. */
static bool run_cfa(struct run *run, uint8_t op)
{
	struct cfi_reader *reader = &run->reader;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = cfi_read_uleb128(reader);
		set_cfa(run, reg, (int64_t)cfi_read_uleb128(reader));
		return true;
	case CFA_DEF_CFA_SF:
		reg = cfi_read_uleb128(reader);
		set_cfa(run, reg, factor_cfa_offset(run, cfi_read_sleb128(reader)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		/* Valid after an expression, too: hand-written assembly relies on the offset from
		 * before it. */
		set_cfa(run, cfi_read_uleb128(reader), run->state.cfa_offset);
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa_offset(run, factor_cfa_offset(run, cfi_read_sleb128(reader)));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		set_cfa_expression(run);
		return true;
	default:
		return false;
	}
}

/* Handles the instructions that have a register operand and say where it is saved. Returns false
 * for any other. */
static bool run_register(struct run *run, uint8_t op)
{
	struct cfi_reader *reader = &run->reader;
	uint64_t reg;

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		reg = cfi_read_uleb128(reader);
		set_column_factored(run, reg, CFI_CELL_CFA, (int64_t)cfi_read_uleb128(reader));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		reg = cfi_read_uleb128(reader);
		set_column_factored(run, reg, CFI_CELL_CFA, cfi_read_sleb128(reader));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		reg = cfi_read_uleb128(reader);
		set_column_factored(run, reg, CFI_CELL_CFA,
				    (int64_t)(0 - cfi_read_uleb128(reader)));
		return true;
	case CFA_RESTORE_EXTENDED:
		restore_column(run, cfi_read_uleb128(reader));
		return true;
	case CFA_UNDEFINED:
		set_column(run, cfi_read_uleb128(reader), CFI_CELL_UNDEFINED, 0);
		return true;
	case CFA_SAME_VALUE:
		set_column(run, cfi_read_uleb128(reader), CFI_CELL_SAME, 0);
		return true;
	case CFA_REGISTER:
		set_column_register(run);
		return true;
	case CFA_EXPRESSION:
		set_column_expression(run);
		return true;
	case CFA_VAL_OFFSET:
		reg = cfi_read_uleb128(reader);
		set_column_factored(run, reg, CFI_CELL_VALUE_CFA,
				    (int64_t)cfi_read_uleb128(reader));
		return true;
	case CFA_VAL_OFFSET_SF:
		reg = cfi_read_uleb128(reader);
		set_column_factored(run, reg, CFI_CELL_VALUE_CFA, cfi_read_sleb128(reader));
		return true;
	case CFA_VAL_EXPRESSION:
		skip_value_expression(run);
		return true;
	default:
		return false;
	}
}

/* Handles instructions that neither advance nor encode an operand in the opcode. Returns false when
 * malformed. */
static bool run_extended(struct run *run, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
	case CFA_AARCH64_NEGATE_RA_STATE: /* the unwind step masks signed return addresses */
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		return true;
	case CFA_REMEMBER_STATE:
		return remember_state(run);
	case CFA_RESTORE_STATE:
		return restore_state(run);
	case CFA_GNU_ARGS_SIZE:
		cfi_read_uleb128(&run->reader);
		return true;
	default:
		/* An unknown instruction has an unknown length, so nothing after it is usable. */
		return run_register(run, op) || run_cfa(run, op);
	}
}

/* Handles every instruction but an advance. Returns false when malformed. */
static inline bool run_instruction(struct run *run, uint8_t op)
{
	bool valid = true;

	if ((op & ~CFA_OPERAND_MASK) == CFA_OFFSET)
		set_column_factored(run, op & CFA_OPERAND_MASK, CFI_CELL_CFA,
				    (int64_t)cfi_read_uleb128(&run->reader));
	else if (op == CFA_DEF_CFA_OFFSET) /* two of five instructions */
		set_cfa_offset(run, (int64_t)cfi_read_uleb128(&run->reader));
	else if ((op & ~CFA_OPERAND_MASK) == CFA_RESTORE)
		restore_column(run, op & CFA_OPERAND_MASK);
	else
		valid = run_extended(run, op);
	return valid && !run->reader.failed;
}

static inline bool is_advance(uint8_t op)
{
	return (op & ~CFA_OPERAND_MASK) == CFA_ADVANCE_LOC ||
	       (op >= CFA_SET_LOC && op <= CFA_ADVANCE_LOC4);
}

/* Returns the new location, or UINT64_MAX when it is malformed or moves backwards. */
static inline uint64_t advance(struct run *run, uint8_t op, uint64_t location,
			       const struct cfi_program *program)
{
	struct cfi_reader *reader = &run->reader;
	uint64_t delta;

	if (op & CFA_ADVANCE_LOC) {
		delta = op & CFA_OPERAND_MASK;
	} else if (op == CFA_ADVANCE_LOC1) {
		delta = cfi_read_u8(reader);
	} else if (op == CFA_ADVANCE_LOC2) {
		delta = cfi_read_u16(reader);
	} else if (op == CFA_ADVANCE_LOC4) {
		delta = cfi_read_u32(reader);
	} else {
		uint64_t field = program->address + (uint64_t)(reader->at - program->bytes);
		uint64_t target =
			cfi_read_pointer(reader, run->context->pointer_encoding, field, 0) -
			program->base;

		return reader->failed || target < location ? UINT64_MAX : target;
	}
	/* No overflow: code_align is at most 255 and location at most 2^33. */
	return reader->failed ? UINT64_MAX : location + delta * run->context->code_align;
}

bool cfi_program_run_initial(const struct cfi_machine *machine, struct cfi_context *context,
			     const uint8_t *program, size_t size)
{
	struct run run = {
		.machine = machine,
		.context = context,
		.reader = {.at = program, .end = program + size},
		.state = {.cfa = PKBPF_CFA_UNSUPPORTED},
	};

	context->initial = run.state; /* DW_CFA_restore in a CIE restores this */
	while (cfi_reader_left(&run.reader)) {
		uint8_t op = cfi_read_u8(&run.reader);

		if (is_advance(op) || !run_instruction(&run, op))
			return false;
	}
	context->initial = run.state;
	return true;
}

/* The signal frame that the kernel writes: it holds the interrupted stack pointer among the saved
 * registers. On arm64 no other code has the 'S' augmentation. */
static bool is_kernels_frame(const struct run *run)
{
	const struct cfi_state *state = &run->state;

	if (!run->context->is_signal)
		return false;
	if (run->machine->has_link_register)
		return true;
	return state->cfa == PKBPF_CFA_SP_DEREF && state->cfa_aux == 0 &&
	       state->cfa_deref_offset == SIGNAL_SP_AT;
}

static void emit(struct run *run, uint32_t offset, cfi_row_fn row, void *row_context)
{
	struct pkbpf_unwind_rule rule = {.cfa = PKBPF_CFA_SIGNAL};

	if (!is_kernels_frame(run)) {
		cfi_state_to_rule(run->machine, run->context->go_frame_pointer, &run->state, &rule);
		/* Its caller was interrupted: the address in it is that of an instruction. */
		if (run->context->is_signal && rule.cfa == PKBPF_CFA_SP)
			rule.cfa = PKBPF_CFA_SP_INTERRUPTED;
	}
	row(row_context, offset, &rule);
	run->changed = false;
}

void cfi_program_run(const struct cfi_machine *machine, const struct cfi_context *context,
		     const struct cfi_program *program, cfi_row_fn row, void *row_context)
{
	uint64_t location = program->start;
	uint64_t end = location + program->length;
	struct run run;

	run.machine = machine;
	run.context = context;
	run.reader =
		(struct cfi_reader){.at = program->bytes, .end = program->bytes + program->size};
	run.state = context->initial;
	run.remembered_count = 0;
	run.changed = true;
	while (run.reader.at != run.reader.end) {
		uint8_t op = *run.reader.at++;

		if (is_advance(op)) {
			uint64_t next = advance(&run, op, location, program);

			if (next == UINT64_MAX)
				goto malformed;
			if (next == location)
				continue;
			if (run.changed)
				emit(&run, (uint32_t)location, row, row_context);
			location = next;
			if (location >= end)
				return;
		} else if (!run_instruction(&run, op)) {
			goto malformed;
		}
	}
	if (run.changed)
		emit(&run, (uint32_t)location, row, row_context);
	return;
malformed:
	run.state.cfa = PKBPF_CFA_UNSUPPORTED;
	run.state.columns[CFI_COLUMN_RA].kind = CFI_CELL_UNSUPPORTED;
	emit(&run, (uint32_t)location, row, row_context);
}
