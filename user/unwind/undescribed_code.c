// SPDX-License-Identifier: BSD-2-Clause
/* Follows the stack pointer through instructions. */
#include "unwind/undescribed_code.h"

#include <stdlib.h>
#include <string.h>

#include "unwind/x86_instruction.h"

/* Branches within a piece hand their state on to their targets: one state serves all that are alike in a row. */
#define MAX_STATES	16384
#define FUNCTION_ALIGN	16
#define RETURN_ADDRESS	8
#define INT3		0xcc /* fills space that is not to be executed */
/* More of the stack is no frame but data that was taken for code. */
#define MAX_FRAME_BYTES (1 << 20)

enum {
	KNOWS_SP = 1,	 /* the CFA is the stack pointer + sp_offset */
	KNOWS_SLOT = 2,	 /* the CFA is the word at the stack pointer + slot, + slot_offset */
	FP_SAVED = 4,	 /* the caller's frame pointer is at the CFA + fp_at */
	FP_LOST = 8,	 /* it is neither there nor in its register */
	FP_FRAME = 16,	 /* this function's own frame pointer is set up as compilers do */
	IS_OUTERMOST = 32, /* the code that the program starts with */
};

/* What is known of the frame before an instruction. The CFA is the stack pointer before the call that led here. */
struct frame_state {
	int32_t sp_offset;
	int32_t slot, slot_offset;
	int32_t fp_at;
	int32_t copy[X86_REGISTER_COUNT]; /* the CFA is this register + copy, for those in copies */
	uint16_t copies;
	uint16_t knows;
};

struct undescribed_code {
	struct frame_state *states; /* number 0 is none */
	uint32_t state_count;
	struct undescribed_counts counts;
	uint16_t targets[UNDESCRIBED_CODE_PIECE_BYTES]; /* state handed on to the instruction at this offset of the piece */
};

/* One pass over a piece. */
struct walk {
	struct undescribed_code *work;
	const uint8_t *code;
	size_t size, at;
	struct frame_state state;
	struct frame_state table_state; /* at this function's last jump through a table, or through anything else */
	bool alive;			/* the state is that of `at` */
	bool has_table_state;
	bool borrows_frame; /* this function reads the stack by a frame pointer that it has not set up */
	size_t last_function; /* where the last one seems to begin */
	uint32_t offset;
	uint64_t entry;
	cfi_row_fn row; /* NULL: targets are collected only */
	void *context;
	struct pkbpf_unwind_rule rule; /* given last */
	bool gave_rule;
	bool changed; /* the state may have changed since */
	bool knows_targets; /* this is not the first pass */
	bool has_doubt;
};

static const struct frame_state function_entry = {.sp_offset = RETURN_ADDRESS, .knows = KNOWS_SP};

struct undescribed_code *undescribed_code_new(void)
{
	struct undescribed_code *work = malloc(sizeof(*work));

	if (!work)
		return NULL;
	work->counts = (struct undescribed_counts){0};
	work->states = malloc(MAX_STATES * sizeof(*work->states));
	if (!work->states) {
		free(work);
		return NULL;
	}
	return work;
}

void undescribed_code_free(struct undescribed_code *work)
{
	if (!work)
		return;
	free(work->states);
	free(work);
}

struct undescribed_counts undescribed_code_counts(const struct undescribed_code *work)
{
	return work->counts;
}

size_t undescribed_code_frame_pointers(const uint8_t *code, size_t size)
{
	static const uint8_t set_up[] = {0x55, 0x48, 0x89, 0xe5}; /* push %rbp; mov %rsp,%rbp */
	const uint8_t *end = code + size, *found;
	size_t count = 0;

	for (; (found = memmem(code, (size_t)(end - code), set_up, sizeof(set_up))); code = found + sizeof(set_up))
		count++;
	return count;
}

static bool has_copy(const struct frame_state *state, uint8_t number)
{
	return state->copies >> number & 1;
}

static void set_copy(struct frame_state *state, uint8_t number, int64_t offset)
{
	if (offset > MAX_FRAME_BYTES || offset < -MAX_FRAME_BYTES)
		return;
	state->copy[number] = (int32_t)offset;
	state->copies |= (uint16_t)(1U << number);
}

/* The register has another value from here on. */
static void overwrite(struct frame_state *state, uint8_t number)
{
	state->copies &= (uint16_t)~(1U << number);
	if (number == X86_RSP) {
		state->knows &= ~(KNOWS_SP | KNOWS_SLOT);
	} else if (number == X86_RBP) {
		state->knows &= ~FP_FRAME;
		if (!(state->knows & FP_SAVED))
			state->knows |= FP_LOST;
	}
}

static void overwrite_all(struct frame_state *state, uint16_t numbers)
{
	for (uint8_t i = 0; i < X86_REGISTER_COUNT; i++)
		if (numbers >> i & 1)
			overwrite(state, i);
}

#define REGISTERS(a, b, c, d) (1U << (a) | 1U << (b) | 1U << (c) | 1U << (d))

static void set_sp(struct frame_state *state, int64_t offset)
{
	overwrite(state, X86_RSP);
	if (offset < 0 || offset > MAX_FRAME_BYTES)
		return;
	state->sp_offset = (int32_t)offset;
	state->knows |= KNOWS_SP;
}

/* The stack grows by so many bytes. */
static void grow(struct frame_state *state, int64_t bytes)
{
	int64_t slot = (int64_t)state->slot + bytes;

	if (state->knows & KNOWS_SP) {
		set_sp(state, state->sp_offset + bytes);
	} else if (state->knows & KNOWS_SLOT && slot >= -MAX_FRAME_BYTES && slot <= MAX_FRAME_BYTES) {
		state->slot = (int32_t)slot;
	} else {
		overwrite(state, X86_RSP);
	}
}

/* The CFA as an offset from a register; false: it is not known. */
static bool cfa_from(const struct frame_state *state, uint8_t number, int32_t *ret_offset)
{
	if (number == X86_RSP) {
		*ret_offset = state->sp_offset;
		return state->knows & KNOWS_SP;
	}
	*ret_offset = state->copy[number];
	return has_copy(state, number);
}

static void restore_fp(struct frame_state *state)
{
	state->copies &= (uint16_t)~(1U << X86_RBP);
	state->knows &= ~(FP_SAVED | FP_LOST | FP_FRAME);
}

static bool fp_is_callers(const struct frame_state *state)
{
	return !(state->knows & (FP_SAVED | FP_LOST));
}

static void save_fp(struct frame_state *state, int32_t at)
{
	state->fp_at = at;
	state->knows |= FP_SAVED;
}

static void push(struct frame_state *state, const struct x86_instruction *instruction, int number)
{
	grow(state, instruction->is_short ? 2 : 8);
	if (number == X86_RBP && fp_is_callers(state) && state->knows & KNOWS_SP)
		save_fp(state, -state->sp_offset);
}

static void pop(struct frame_state *state, const struct x86_instruction *instruction, int number)
{
	bool of_fp = number == X86_RBP && state->knows & FP_SAVED &&
		     (!(state->knows & KNOWS_SP) || state->fp_at == -state->sp_offset);

	grow(state, instruction->is_short ? -2 : -8);
	if (of_fp)
		restore_fp(state);
	else if (number >= 0)
		overwrite(state, (uint8_t)number);
}

static void leave(struct frame_state *state)
{
	int32_t offset;

	if (!cfa_from(state, X86_RBP, &offset)) {
		overwrite(state, X86_RSP);
		overwrite(state, X86_RBP);
		return;
	}
	set_sp(state, (int64_t)offset - 8);
	restore_fp(state);
}

static void copy_register(struct frame_state *state, uint8_t to, uint8_t from)
{
	bool frame = to == X86_RBP && from == X86_RSP && state->knows & FP_SAVED && state->fp_at == -state->sp_offset;
	int32_t offset = 0;
	bool known = cfa_from(state, from, &offset);

	if (to == X86_RSP) {
		if (known)
			set_sp(state, offset);
		else
			overwrite(state, X86_RSP);
		return;
	}
	overwrite(state, to);
	if (known) {
		set_copy(state, to, offset);
		if (frame)
			state->knows |= FP_FRAME;
	}
}

static bool is_plain_memory(const struct x86_instruction *instruction)
{
	return instruction->mod != 3 && instruction->has_base && instruction->index == X86_RSP;
}

static void store(struct frame_state *state, const struct x86_instruction *instruction)
{
	int32_t base, value;

	if (!is_plain_memory(instruction))
		return;
	if (instruction->reg == X86_RBP && fp_is_callers(state) && cfa_from(state, instruction->rm, &base))
		save_fp(state, instruction->displacement - base);
	/* The caller's stack pointer is kept on a stack that has been aligned. */
	if (instruction->rm == X86_RSP && instruction->reg != X86_RSP && !(state->knows & KNOWS_SP) &&
	    cfa_from(state, instruction->reg, &value)) {
		state->slot = instruction->displacement;
		state->slot_offset = value;
		state->knows |= KNOWS_SLOT;
	}
}

static void load(struct frame_state *state, const struct x86_instruction *instruction)
{
	uint8_t to = instruction->reg;
	int32_t base;

	if (is_plain_memory(instruction)) {
		if (instruction->rm == X86_RSP && state->knows & KNOWS_SLOT && instruction->displacement == state->slot) {
			int32_t offset = state->slot_offset;

			overwrite(state, to);
			if (to == X86_RSP)
				set_sp(state, offset);
			else
				set_copy(state, to, offset);
			return;
		}
		if (to == X86_RBP && state->knows & FP_SAVED && cfa_from(state, instruction->rm, &base) &&
		    instruction->displacement - base == state->fp_at) {
			restore_fp(state);
			return;
		}
	}
	overwrite(state, to);
}

static void load_address(struct frame_state *state, const struct x86_instruction *instruction)
{
	int32_t offset;
	bool known = instruction->is_wide && is_plain_memory(instruction) && cfa_from(state, instruction->rm, &offset);

	if (instruction->reg == X86_RSP && instruction->rm == X86_RSP && is_plain_memory(instruction)) {
		grow(state, -(int64_t)instruction->displacement);
		return;
	}
	overwrite(state, instruction->reg);
	if (!known)
		return;
	if (instruction->reg == X86_RSP)
		set_sp(state, (int64_t)offset - instruction->displacement);
	else
		set_copy(state, instruction->reg, (int64_t)offset - instruction->displacement);
}

/* ADD, OR, ADC, SBB, AND, SUB, XOR, CMP with an immediate. */
static void calculate(struct frame_state *state, const struct x86_instruction *instruction)
{
	enum { ADD = 0, AND = 4, SUB = 5, CMP = 7 };
	unsigned int operation = instruction->reg & 7;
	int64_t added = operation == SUB ? -instruction->immediate : instruction->immediate;
	uint8_t number = instruction->rm;
	int32_t offset;

	if (instruction->mod != 3 || operation == CMP)
		return;
	if (instruction->opcode == 0x80 || !instruction->is_wide || (operation != ADD && operation != SUB)) {
		overwrite(state, number);
	} else if (number == X86_RSP) {
		grow(state, -added);
	} else {
		bool known = cfa_from(state, number, &offset);

		overwrite(state, number);
		if (known)
			set_copy(state, number, offset - added);
	}
}

static void overwrite_rm(struct frame_state *state, const struct x86_instruction *instruction)
{
	if (instruction->mod == 3)
		overwrite(state, instruction->rm);
}

static void step_arithmetic(struct frame_state *state, const struct x86_instruction *instruction)
{
	if (instruction->opcode >= 0x38) /* CMP */
		return;
	switch (instruction->opcode & 7) {
	case 0:
	case 1:
		overwrite_rm(state, instruction);
		break;
	case 2:
	case 3:
		overwrite(state, instruction->reg);
		break;
	default:
		overwrite(state, X86_RAX);
	}
}

/* Helpers that are called by name may have conventions of their own, and where the stack has been aligned a register that others
 * need not keep may be all that leads back: it is believed. */
static void step_call_through(struct frame_state *state)
{
	/* What a called function must keep. */
	state->copies &= 1U << X86_RBX | 1U << X86_RBP | 0xf000;
}

static void step_group_ff(struct frame_state *state, const struct x86_instruction *instruction)
{
	switch (instruction->reg & 7) {
	case 0:
	case 1:
		overwrite_rm(state, instruction);
		break;
	case 2:
	case 3:
		step_call_through(state);
		break;
	case 6:
		push(state, instruction, -1);
		break;
	}
}

static void step_one_byte(struct frame_state *state, const struct x86_instruction *instruction)
{
	uint8_t opcode = instruction->opcode;

	switch (opcode) {
	case 0x00 ... 0x3f:
		step_arithmetic(state, instruction);
		break;
	case 0x50 ... 0x57:
		push(state, instruction, instruction->rm);
		break;
	case 0x58 ... 0x5f:
		pop(state, instruction, instruction->rm);
		break;
	case 0x68:
	case 0x6a:
	case 0x9c: /* PUSHF */
		push(state, instruction, -1);
		break;
	case 0x9d: /* POPF */
		pop(state, instruction, -1);
		break;
	case 0x63: /* MOVSXD, IMUL */
	case 0x69:
	case 0x6b:
		overwrite(state, instruction->reg);
		break;
	case 0x80:
	case 0x81:
	case 0x83:
		calculate(state, instruction);
		break;
	case 0x86: /* XCHG */
	case 0x87:
		overwrite(state, instruction->reg);
		overwrite_rm(state, instruction);
		break;
	case 0x89:
		if (instruction->mod == 3 && instruction->is_wide)
			copy_register(state, instruction->rm, instruction->reg);
		else if (instruction->mod == 3)
			overwrite(state, instruction->rm);
		else if (instruction->is_wide)
			store(state, instruction);
		break;
	case 0x8a:
		overwrite(state, instruction->reg);
		break;
	case 0x8b:
		if (instruction->mod == 3 && instruction->is_wide)
			copy_register(state, instruction->reg, instruction->rm);
		else
			load(state, instruction);
		break;
	case 0x8d:
		load_address(state, instruction);
		break;
	case 0x8f:
		pop(state, instruction, instruction->mod == 3 ? instruction->rm : -1);
		break;
	case 0x90 ... 0x97: /* XCHG with RAX, of which the first is NOP */
		if (instruction->rm != X86_RAX) {
			overwrite(state, X86_RAX);
			overwrite(state, instruction->rm);
		}
		break;
	case 0x98 ... 0x99:
	case 0x9f ... 0xa1:
	case 0xd7:
	case 0xe4 ... 0xe5:
	case 0xec ... 0xed:
		overwrite(state, X86_RAX);
		overwrite(state, X86_RDX);
		break;
	case 0xa4 ... 0xa7: /* string instructions */
	case 0xaa ... 0xaf:
		overwrite_all(state, REGISTERS(X86_RAX, X86_RCX, X86_RSI, X86_RDI));
		break;
	case 0x88: /* MOV, SETcc and shifts of a register or memory */
	case 0x8c:
	case 0xc0 ... 0xc1:
	case 0xc6 ... 0xc7:
	case 0xd0 ... 0xd3:
	case 0xfe:
		overwrite_rm(state, instruction);
		break;
	case 0xb0 ... 0xbf:
		overwrite(state, instruction->rm);
		break;
	case 0xc8: /* ENTER */
		overwrite(state, X86_RSP);
		overwrite(state, X86_RBP);
		break;
	case 0xc9:
		leave(state);
		break;
	case 0xf6 ... 0xf7:
		if ((instruction->reg & 6) == 2) { /* NOT, NEG */
			overwrite_rm(state, instruction);
		} else if ((instruction->reg & 7) >= 4) { /* MUL, DIV */
			overwrite(state, X86_RAX);
			overwrite(state, X86_RDX);
		}
		break;
	case 0xff:
		step_group_ff(state, instruction);
		break;
	}
}

/* Of these maps, also in their vector encodings, few instructions write a general register. */
static void step_0f(struct frame_state *state, const struct x86_instruction *instruction)
{
	switch (instruction->opcode) {
	case 0x05: /* SYSCALL */
		overwrite_all(state, REGISTERS(X86_RAX, X86_RCX, 11, 11));
		break;
	case 0x01: /* XGETBV and others */
	case 0x31: /* RDTSC, RDPMC, CPUID */
	case 0x33:
	case 0xa2:
		overwrite_all(state, REGISTERS(X86_RAX, X86_RCX, X86_RDX, X86_RBX));
		break;
	case 0x2c: /* conversions, masks, words of vectors */
	case 0x2d:
	case 0x40 ... 0x4f: /* CMOVcc; operations on mask registers, which do no harm here */
	case 0x50:
	case 0x93:
	case 0xaf:
	case 0xb6 ... 0xb8:
	case 0xbc ... 0xbf:
	case 0xc5:
	case 0xd7:
		overwrite(state, instruction->reg);
		break;
	case 0x7e:
	case 0x90 ... 0x92: /* SETcc */
	case 0x94 ... 0x9f:
	case 0xa4 ... 0xa5:
	case 0xab ... 0xad:
	case 0xb3:
	case 0xba ... 0xbb:
	case 0xc7:
		overwrite_rm(state, instruction);
		break;
	case 0xb0 ... 0xb1: /* CMPXCHG, XADD */
	case 0xc0 ... 0xc1:
		overwrite_rm(state, instruction);
		overwrite(state, instruction->reg);
		overwrite(state, X86_RAX);
		break;
	case 0xc8 ... 0xcf: /* BSWAP */
		if (!instruction->is_vector)
			overwrite(state, instruction->rm);
		break;
	}
}

static void step(struct frame_state *state, const struct x86_instruction *instruction)
{
	switch (instruction->map) {
	case X86_MAP_ONE_BYTE:
		step_one_byte(state, instruction);
		break;
	case X86_MAP_0F:
		step_0f(state, instruction);
		break;
	case X86_MAP_0F38: /* CRC32, MOVBE, ADCX, BMI */
		if (instruction->opcode == 0xf3)
			state->copies = 0; /* its target is in a field that is not decoded */
		else if (instruction->opcode >= 0xf0)
			overwrite(state, instruction->reg);
		break;
	case X86_MAP_0F3A: /* words of vectors, RORX */
		if (instruction->opcode >= 0x14 && instruction->opcode <= 0x17)
			overwrite_rm(state, instruction);
		else if (instruction->opcode == 0xf0)
			overwrite(state, instruction->reg);
		break;
	}
}

/* As DWARF numbers them. */
static uint8_t dwarf_register(unsigned int number)
{
	static const uint8_t numbers[8] = {0, 2, 1, 3, 7, 6, 4, 5};

	return (uint8_t)(number < 8 ? numbers[number] : number);
}

static void set_cfa(struct pkbpf_unwind_rule *rule, enum pkbpf_cfa_kind kind, int32_t offset, unsigned int aux)
{
	rule->cfa = (uint8_t)kind;
	rule->cfa_offset = offset;
	rule->aux = (uint8_t)aux;
}

static struct pkbpf_unwind_rule make_rule(const struct frame_state *state)
{
	struct pkbpf_unwind_rule rule = {0};

	if (state->knows & IS_OUTERMOST) {
		rule.cfa = PKBPF_CFA_END;
		return rule;
	}
	/* In a frame with a frame pointer of its own, called functions may take their arguments off the stack. */
	if (state->knows & FP_FRAME)
		set_cfa(&rule, PKBPF_CFA_FP, state->copy[X86_RBP], 0);
	else if (state->knows & KNOWS_SP)
		set_cfa(&rule, PKBPF_CFA_SP, state->sp_offset, 0);
	else if (has_copy(state, X86_RBP))
		set_cfa(&rule, PKBPF_CFA_FP, state->copy[X86_RBP], 0);
	else if (state->knows & KNOWS_SLOT && state->slot_offset >= 0 && state->slot_offset < 8 * 256 &&
		 state->slot_offset % 8 == 0)
		set_cfa(&rule, PKBPF_CFA_SP_DEREF, state->slot, (unsigned int)state->slot_offset / 8);
	else if (state->copies)
		set_cfa(&rule, PKBPF_CFA_REGISTER, state->copy[__builtin_ctz(state->copies)],
			dwarf_register((unsigned int)__builtin_ctz(state->copies)));
	else
		return rule;
	rule.ra_offset = -RETURN_ADDRESS;
	if (state->knows & FP_SAVED) {
		rule.fp = PKBPF_FP_CFA;
		rule.fp_offset = state->fp_at;
	} else if (state->knows & FP_LOST) {
		rule.fp = PKBPF_FP_UNDEFINED;
	}
	return rule;
}

static void give_rule(struct walk *walk, const struct frame_state *state)
{
	struct pkbpf_unwind_rule rule = {0};

	if (!walk->row)
		return;
	if (state)
		rule = make_rule(state);
	if (walk->gave_rule && memcmp(&rule, &walk->rule, sizeof(rule)) == 0)
		return;
	walk->rule = rule;
	walk->gave_rule = true;
	walk->row(walk->context, walk->offset + (uint32_t)walk->at, &rule);
}

/* NOPs and traps that fill the space up to the next function. 0: it is something else. */
static size_t padding_size(const struct walk *walk, size_t at)
{
	const uint8_t *code = walk->code + at;
	struct x86_instruction instruction;

	if (*code == INT3 || *code == 0x90 || *code == 0)
		return 1;
	if (!x86_decode(code, walk->size - at, &instruction))
		return 0;
	if ((instruction.map == X86_MAP_0F && instruction.opcode == 0x1f && !instruction.is_vector) ||
	    (instruction.map == X86_MAP_ONE_BYTE && instruction.opcode == 0x90 && instruction.rm == X86_RAX))
		return instruction.size;
	return 0;
}

static bool is_entry_state(const struct frame_state *state)
{
	return state->knows & KNOWS_SP && state->sp_offset == RETURN_ADDRESS;
}

static void begin_function(struct walk *walk)
{
	walk->borrows_frame = false;
	walk->work->counts.functions++;
	walk->state = function_entry;
	walk->alive = true;
	walk->has_table_state = false;
	walk->last_function = walk->at;
}

/* Where the padding from an offset on ends. */
static size_t padding_end(const struct walk *walk, size_t at)
{
	while (at < walk->size && !walk->work->targets[at]) {
		size_t size = padding_size(walk, at);

		if (!size)
			break;
		at += size;
	}
	return at;
}

static void skip_padding(struct walk *walk)
{
	size_t end = padding_end(walk, walk->at);

	if (end > walk->at)
		give_rule(walk, NULL);
	walk->at = end;
}

/* It saves registers, makes room on the stack or is marked as the target of a jump through a pointer. */
static bool begins_as_function(const struct walk *walk, size_t at)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const uint8_t *code = walk->code + at;
	struct x86_instruction instruction;

	if (walk->size - at >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0)
		return true;
	if (!x86_decode(code, walk->size - at, &instruction) || instruction.map != X86_MAP_ONE_BYTE)
		return false;
	if (instruction.opcode >= 0x50 && instruction.opcode <= 0x57)
		return true;
	return (instruction.opcode == 0x81 || instruction.opcode == 0x83) && instruction.mod == 3 &&
	       instruction.rm == X86_RSP;
}

/* Whether a call that ends at an offset is one that does not return, the last instruction of its function. */
static bool call_is_last(const struct walk *walk, size_t at)
{
	size_t end = padding_end(walk, at);

	if (end == at || end >= walk->size || (walk->offset + end) % FUNCTION_ALIGN != 0)
		return false;
	return walk->state.knows & IS_OUTERMOST || begins_as_function(walk, end);
}

/* Behind code that does not go on here. `ended`: how it was there. */
static void go_on(struct walk *walk, const struct frame_state *ended, bool returned)
{
	size_t end = walk->at;
	bool is_aligned, is_doubtful;

	walk->alive = false;
	skip_padding(walk);
	if (walk->at >= walk->size || walk->work->targets[walk->at])
		return;
	is_aligned = (walk->offset + walk->at) % FUNCTION_ALIGN == 0 || walk->at > end;
	/* Behind a jump an aligned loop of the same function may begin, whose branch is still to come. */
	is_doubtful = ended ? !returned && !is_entry_state(ended) : !returned || walk->at == end;
	if (!is_aligned && !returned && ended) {
		/* What follows a jump belongs to its function. */
		walk->state = *ended;
		walk->alive = true;
	} else if (is_aligned && is_doubtful && !walk->knows_targets) {
		walk->has_doubt = true;
	} else if (is_aligned && (!walk->has_table_state || is_entry_state(&walk->table_state) || begins_as_function(walk, walk->at))) {
		begin_function(walk);
	} else if (walk->has_table_state) {
		walk->state = walk->table_state;
		walk->alive = true;
	}
}

static void hand_on(struct walk *walk, const struct x86_instruction *instruction, const struct frame_state *state)
{
	uint64_t target = walk->at + instruction->size + (uint64_t)instruction->immediate;
	struct undescribed_code *work = walk->work;

	if (target >= walk->size || work->targets[target])
		return;
	if (work->state_count == 1 ||
	    memcmp(&work->states[work->state_count - 1], state, sizeof(*state)) != 0) {
		if (work->state_count == MAX_STATES)
			return;
		work->states[work->state_count++] = *state;
	}
	work->targets[target] = (uint16_t)(work->state_count - 1);
}

enum flow { FLOW_ON, FLOW_BRANCH, FLOW_JUMP, FLOW_JUMP_THROUGH, FLOW_RETURN };

/* Most instructions of such code calculate with vectors. */
static bool does_nothing(const struct x86_instruction *instruction)
{
	uint8_t opcode = instruction->opcode;

	switch (instruction->map) {
	case X86_MAP_0F:
		return (opcode >= 0x10 && opcode < 0x2c) || (opcode > 0x50 && opcode < 0x7e) || (opcode >= 0xd8) ||
		       (opcode > 0xd0 && opcode < 0xd7);
	case X86_MAP_0F38:
		return opcode < 0xf0;
	case X86_MAP_0F3A:
		return opcode < 0x14;
	case X86_MAP_OTHER:
		return true;
	}
	return false;
}

static enum flow flow_of(const struct x86_instruction *instruction)
{
	uint8_t opcode = instruction->opcode;

	if (instruction->is_vector)
		return FLOW_ON;
	if (instruction->map == X86_MAP_0F)
		return opcode >= 0x80 && opcode <= 0x8f ? FLOW_BRANCH : opcode == 0x0b ? FLOW_RETURN : FLOW_ON;
	if (instruction->map != X86_MAP_ONE_BYTE)
		return FLOW_ON;
	if ((opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xe0 && opcode <= 0xe3))
		return FLOW_BRANCH;
	if (opcode == 0xe9 || opcode == 0xeb)
		return FLOW_JUMP;
	if (opcode == 0xff && (instruction->reg & 6) == 4)
		return FLOW_JUMP_THROUGH;
	if (opcode == 0xc2 || opcode == 0xc3 || opcode == 0xf4)
		return FLOW_RETURN;
	return FLOW_ON;
}

static bool borrows_frame(const struct frame_state *state, const struct x86_instruction *instruction)
{
	return instruction->has_modrm && instruction->mod != 3 && instruction->has_base && instruction->rm == X86_RBP &&
	       fp_is_callers(state) && !has_copy(state, X86_RBP) && (uint32_t)instruction->displacement >= 0xfffff000U;
}

static bool is_call(const struct x86_instruction *instruction)
{
	return instruction->map == X86_MAP_ONE_BYTE && instruction->opcode == 0xe8;
}

static void pass_instruction(struct walk *walk, const struct x86_instruction *instruction)
{
	enum flow flow = flow_of(instruction);
	bool alive = walk->alive;
	struct frame_state ended;

	if (flow == FLOW_ON) {
		if (alive && !walk->borrows_frame && borrows_frame(&walk->state, instruction)) {
			walk->borrows_frame = true;
			walk->work->counts.borrowed_frames++;
		}
		if (alive && is_call(instruction))
			hand_on(walk, instruction, &function_entry);
		if (alive && !does_nothing(instruction)) {
			step(&walk->state, instruction);
			walk->changed = true;
		}
		walk->at += instruction->size;
		if (alive && is_call(instruction) && call_is_last(walk, walk->at)) {
			ended = walk->state;
			walk->changed = true;
			go_on(walk, &ended, true);
		}
		return;
	}
	if (alive && instruction->opcode >= 0xe0 && instruction->opcode <= 0xe3) /* LOOP */
		overwrite(&walk->state, X86_RCX);
	if (alive && (flow == FLOW_BRANCH || flow == FLOW_JUMP))
		hand_on(walk, instruction, &walk->state);
	if (alive && flow == FLOW_JUMP_THROUGH) {
		walk->table_state = walk->state;
		walk->has_table_state = true;
	}
	walk->at += instruction->size;
	if (flow == FLOW_BRANCH)
		return;
	ended = walk->state;
	walk->changed = true;
	go_on(walk, alive ? &ended : NULL, flow == FLOW_RETURN);
}

/* A branch leads to this instruction, or the program starts here. */
static void take_what_is_known(struct walk *walk)
{
	uint16_t handed_on = walk->work->targets[walk->at];

	if (!walk->alive && handed_on) {
		walk->state = walk->work->states[handed_on];
		walk->alive = walk->changed = true;
	}
	if (walk->offset + walk->at == walk->entry) {
		walk->state = (struct frame_state){.knows = IS_OUTERMOST};
		walk->alive = walk->changed = true;
	}
}

/* Bytes that are never executed. */
static void pass_no_code(struct walk *walk, size_t size)
{
	struct frame_state ended = walk->state;

	give_rule(walk, NULL);
	walk->changed = true;
	walk->at += size;
	if (walk->at < walk->size)
		go_on(walk, walk->alive ? &ended : NULL, true);
}

static void walk_piece(struct walk *walk)
{
	walk->at = 0;
	skip_padding(walk);
	begin_function(walk);
	walk->changed = true;
	while (walk->at < walk->size) {
		struct x86_instruction instruction;

		take_what_is_known(walk);
		if (walk->code[walk->at] == INT3) {
			pass_no_code(walk, 1);
		} else if (!x86_decode(walk->code + walk->at, walk->size - walk->at, &instruction)) {
			/* Data: the next function begins somewhere behind. */
			walk->alive = false;
			pass_no_code(walk, FUNCTION_ALIGN - (walk->offset + walk->at) % FUNCTION_ALIGN);
		} else {
			if (walk->changed)
				give_rule(walk, walk->alive ? &walk->state : NULL);
			walk->changed = false;
			pass_instruction(walk, &instruction);
		}
	}
}

size_t undescribed_code_run(struct undescribed_code *work, const uint8_t *code, size_t size, bool is_last, uint32_t offset,
			    uint64_t entry, cfi_row_fn row, void *context)
{
	struct walk walk = {.work = work, .code = code, .size = size, .offset = offset, .entry = entry, .context = context};

	memset(work->targets, 0, walk.size * sizeof(*work->targets));
	work->state_count = 1;
	walk_piece(&walk);
	walk.knows_targets = true;
	/* What was left out may hand on to what lies before it. */
	if (walk.has_doubt)
		walk_piece(&walk);
	/* The last function may go on in the next piece; which then begins far enough from this one's start. */
	if (!is_last && walk.last_function >= walk.size / 2)
		walk.size = walk.last_function;
	walk.row = row;
	walk_piece(&walk);
	return walk.size;
}
