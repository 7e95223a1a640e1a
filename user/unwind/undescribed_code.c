// SPDX-License-Identifier: BSD-2-Clause
/* Goes through instructions, finds where functions begin, and hands frames on along branches. */
#include "unwind/undescribed_code.h"

#include <stdlib.h>
#include <string.h>

#include "unwind/x86_frame.h"
#include "unwind/x86_instruction.h"

/* Branches within a piece hand their state on to their targets: one state serves all that are alike in a row. */
#define MAX_STATES	16384
#define FUNCTION_ALIGN	16
#define INT3		0xcc /* fills space that is not to be executed */

/* Numbers of states. */
enum { NO_STATE = 0, KNOWN_START = 1, FIRST_HANDED_ON = 2 };

struct undescribed_code {
	struct x86_frame *states;
	uint32_t state_count;
	const uint32_t *starts; /* offsets of functions; borrowed */
	size_t start_count;
	struct undescribed_counts counts;
	uint16_t targets[UNDESCRIBED_CODE_PIECE_BYTES]; /* state handed on to the instruction at this offset of the piece */
};

/* One pass over a piece. */
struct walk {
	struct undescribed_code *work;
	const uint8_t *code;
	size_t size, at;
	struct x86_frame state;
	struct x86_frame table_state; /* at this function's last jump through a table, or through anything else */
	bool alive;			/* the state is that of `at` */
	bool has_table_state;
	bool borrows_frame; /* this function reads the stack by a frame pointer that it has not set up */
	size_t last_function; /* where the last one seems to begin */
	const uint32_t *next_start, *starts_end; /* the known ones that lie ahead */
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

struct undescribed_code *undescribed_code_new(void)
{
	struct undescribed_code *work = malloc(sizeof(*work));

	if (!work)
		return NULL;
	work->counts = (struct undescribed_counts){0};
	undescribed_code_set_starts(work, NULL, 0);
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

void undescribed_code_set_starts(struct undescribed_code *work, const uint32_t *starts, size_t count)
{
	static const uint32_t none;

	work->starts = count ? starts : &none;
	work->start_count = count;
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

static void give_rule(struct walk *walk, const struct x86_frame *state)
{
	struct pkbpf_unwind_rule rule = {0};

	if (!walk->row)
		return;
	if (state)
		rule = x86_frame_rule(state);
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

static void begin_function(struct walk *walk)
{
	walk->borrows_frame = false;
	walk->work->counts.functions++;
	walk->state = x86_frame_at_entry;
	walk->alive = true;
	walk->has_table_state = false;
	walk->last_function = walk->at;
}

static bool holds_known_start(const struct walk *walk, size_t start, size_t end)
{
	for (size_t at = start; at < end; at++) {
		if (walk->work->targets[at] == KNOWN_START)
			return true;
	}
	return false;
}

/* Where the padding from an offset on ends. */
static size_t padding_end(const struct walk *walk, size_t at)
{
	while (at < walk->size && !walk->work->targets[at]) {
		size_t size = padding_size(walk, at);

		if (!size || holds_known_start(walk, at + 1, at + size))
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
	return x86_frame_is_outermost(&walk->state) || begins_as_function(walk, end);
}

/* Behind code that does not go on here. `ended`: how it was there. */
static void go_on(struct walk *walk, const struct x86_frame *ended, bool returned)
{
	size_t end = walk->at;
	bool is_aligned, is_doubtful;

	walk->alive = false;
	skip_padding(walk);
	if (walk->at >= walk->size || walk->work->targets[walk->at])
		return;
	is_aligned = (walk->offset + walk->at) % FUNCTION_ALIGN == 0 || walk->at > end;
	/* Behind a jump an aligned loop of the same function may begin, whose branch is still to come. */
	is_doubtful = ended ? !returned && !x86_frame_is_at_entry(ended) : !returned || walk->at == end;
	if (!is_aligned && !returned && ended) {
		/* What follows a jump belongs to its function. */
		walk->state = *ended;
		walk->alive = true;
	} else if (is_aligned && is_doubtful && !walk->knows_targets) {
		walk->has_doubt = true;
	} else if (is_aligned && (!walk->has_table_state || x86_frame_is_at_entry(&walk->table_state) ||
				  begins_as_function(walk, walk->at))) {
		begin_function(walk);
	} else if (walk->has_table_state) {
		walk->state = walk->table_state;
		walk->alive = true;
	}
}

static void hand_on(struct walk *walk, const struct x86_instruction *instruction, const struct x86_frame *state)
{
	uint64_t target = walk->at + instruction->size + (uint64_t)instruction->immediate;
	struct undescribed_code *work = walk->work;

	if (target >= walk->size || work->targets[target])
		return;
	if (work->state_count == FIRST_HANDED_ON ||
	    memcmp(&work->states[work->state_count - 1], state, sizeof(*state)) != 0) {
		if (work->state_count == MAX_STATES)
			return;
		work->states[work->state_count++] = *state;
	}
	work->targets[target] = (uint16_t)(work->state_count - 1);
}

enum flow { FLOW_ON, FLOW_BRANCH, FLOW_JUMP, FLOW_JUMP_THROUGH, FLOW_RETURN };

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

static bool is_call(const struct x86_instruction *instruction)
{
	return instruction->map == X86_MAP_ONE_BYTE && instruction->opcode == 0xe8;
}

/* What the next instruction follows in any case, or nearly so. */
static void pass_in_line(struct walk *walk, const struct x86_instruction *instruction)
{
	bool alive = walk->alive;

	if (alive && !walk->borrows_frame && x86_frame_is_borrowed(&walk->state, instruction)) {
		walk->borrows_frame = true;
		walk->work->counts.borrowed_frames++;
	}
	if (alive && is_call(instruction))
		hand_on(walk, instruction, &x86_frame_at_entry);
	if (alive && !x86_frame_is_left_alone(instruction)) {
		x86_frame_step(&walk->state, instruction);
		walk->changed = true;
	}
	walk->at += instruction->size;
	if (alive && is_call(instruction) && call_is_last(walk, walk->at)) {
		struct x86_frame ended = walk->state;

		walk->changed = true;
		go_on(walk, &ended, true);
	}
}

static void pass_branch(struct walk *walk, const struct x86_instruction *instruction, enum flow flow)
{
	struct x86_frame ended;
	bool alive = walk->alive;

	if (alive && flow == FLOW_BRANCH)
		x86_frame_step(&walk->state, instruction); /* LOOP counts */
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

/* A branch or somebody else's call leads to this instruction, or the program starts here. */
static void take_what_is_known(struct walk *walk)
{
	uint16_t handed_on = walk->work->targets[walk->at];

	if (handed_on == KNOWN_START && !(walk->alive && walk->last_function == walk->at)) {
		begin_function(walk);
		walk->changed = true;
	} else if (!walk->alive && handed_on) {
		walk->state = walk->work->states[handed_on];
		walk->alive = walk->changed = true;
	}
	if (walk->offset + walk->at == walk->entry) {
		walk->state = x86_frame_outermost;
		walk->alive = walk->changed = true;
	}
}

/* Bytes that the instruction here may have. */
static size_t room_for_instruction(struct walk *walk)
{
	while (walk->next_start < walk->starts_end && *walk->next_start - walk->offset <= walk->at)
		walk->next_start++;
	return (walk->next_start < walk->starts_end ? *walk->next_start - walk->offset : walk->size) - walk->at;
}

/* Bytes that are never executed. */
static void pass_no_code(struct walk *walk, size_t size)
{
	struct x86_frame ended = walk->state;

	give_rule(walk, NULL);
	walk->changed = true;
	walk->at += size;
	if (walk->at < walk->size)
		go_on(walk, walk->alive ? &ended : NULL, true);
}

/* The first known start at or behind an offset. */
static const uint32_t *first_start(const struct undescribed_code *work, uint64_t offset)
{
	size_t low = 0, high = work->start_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (work->starts[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return work->starts + low;
}

static void walk_piece(struct walk *walk)
{
	walk->at = 0;
	walk->next_start = first_start(walk->work, walk->offset);
	walk->starts_end = first_start(walk->work, (uint64_t)walk->offset + walk->size);
	skip_padding(walk);
	begin_function(walk);
	walk->changed = true;
	while (walk->at < walk->size) {
		size_t room = room_for_instruction(walk), data;
		struct x86_instruction instruction;
		enum flow flow;

		take_what_is_known(walk);
		if (walk->code[walk->at] == INT3) {
			pass_no_code(walk, 1);
		} else if (!x86_decode(walk->code + walk->at, room, &instruction)) {
			/* Data: the next function begins somewhere behind. */
			data = FUNCTION_ALIGN - (walk->offset + walk->at) % FUNCTION_ALIGN;
			walk->alive = false;
			pass_no_code(walk, data < room ? data : room);
		} else {
			if (walk->changed)
				give_rule(walk, walk->alive ? &walk->state : NULL);
			walk->changed = false;
			flow = flow_of(&instruction);
			if (flow == FLOW_ON)
				pass_in_line(walk, &instruction);
			else
				pass_branch(walk, &instruction, flow);
		}
	}
}

static void mark_starts(struct undescribed_code *work, uint32_t offset, size_t size)
{
	const uint32_t *end = first_start(work, (uint64_t)offset + size);

	for (const uint32_t *start = first_start(work, offset); start < end; start++)
		work->targets[*start - offset] = KNOWN_START;
}

size_t undescribed_code_run(struct undescribed_code *work, const uint8_t *code, size_t size, bool is_last, uint32_t offset,
			    uint64_t entry, cfi_row_fn row, void *context)
{
	struct walk walk = {.work = work, .code = code, .size = size, .offset = offset, .entry = entry, .context = context};

	memset(work->targets, 0, walk.size * sizeof(*work->targets));
	work->state_count = FIRST_HANDED_ON;
	work->states[KNOWN_START] = x86_frame_at_entry;
	mark_starts(work, offset, size);
	walk_piece(&walk);
	walk.knows_targets = true;
	/* What was left out may hand on to what lies before it. */
	if (walk.has_doubt)
		walk_piece(&walk);
	/* The last function may go on in the next piece; which then begins far enough from this one's start. */
	if (!is_last && walk.last_function >= (walk.size + 1) / 2)
		walk.size = walk.last_function;
	walk.row = row;
	walk_piece(&walk);
	return walk.size;
}
