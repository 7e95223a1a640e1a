// SPDX-License-Identifier: BSD-2-Clause
/* Guesses frames of unreachable code, and emits the rules of followed code. */
#include "unwind/code/undescribed_code.h"

#include <stdlib.h>
#include <string.h>

#include "instruction/x86_flow.h"
#include "unwind/code/code_walk.h"

/* Prologues are searched in at most this many bytes of unreachable code: assembly has megabytes of
 * it and hardly a prologue. */
#define MAX_UNKNOWN_BYTES      4096
#define MAX_TRIED_INSTRUCTIONS 64

struct undescribed_code {
	struct code_walk walk;
	const uint32_t *starts; /* offsets of function starts; borrowed */
	size_t start_count;
	struct undescribed_counts counts;
};

struct undescribed_code *undescribed_code_new(void)
{
	struct undescribed_code *work = calloc(1, sizeof(*work));

	if (work)
		undescribed_code_set_starts(work, NULL, 0);
	return work;
}

void undescribed_code_free(struct undescribed_code *work)
{
	if (!work)
		return;
	code_walk_free(&work->walk);
	free(work);
}

void undescribed_code_set_starts(struct undescribed_code *work, const uint32_t *starts,
				 size_t count)
{
	static const uint32_t none;

	work->starts = count ? starts : &none;
	work->start_count = count;
}

struct undescribed_counts undescribed_code_counts(const struct undescribed_code *work)
{
	return work->counts;
}

static size_t count_bytes(const uint8_t *code, size_t size, const uint8_t *wanted,
			  size_t wanted_size)
{
	const uint8_t *end = code + size, *found;
	size_t count = 0;

	for (; (found = memmem(code, (size_t)(end - code), wanted, wanted_size));
	     code = found + wanted_size)
		count++;
	return count;
}

size_t undescribed_code_frame_pointers(const uint8_t *code, size_t size)
{
	/* push %rbp; mov %rsp,%rbp: the latter as compilers encode it, or as HotSpot's assembler
	 * does. */
	static const uint8_t compiled[] = {0x55, 0x48, 0x89, 0xe5},
			     assembled[] = {0x55, 0x48, 0x8b, 0xec};

	return count_bytes(code, size, compiled, sizeof(compiled)) +
	       count_bytes(code, size, assembled, sizeof(assembled));
}

/* Unreachable code. */
struct gap {
	size_t end;   /* end of the code before it */
	size_t start; /* start of the code after the padding */
	/* frame at the last table jump in the preceding function, or NO_FRAME */
	uint16_t table;
	size_t known_end; /* end of the last followed code before it */
	/* remaining instructions for trying frames; bounds the cost of hostile code */
	size_t tries;
};

/* In order of decreasing certainty. */
enum guess { GUESS_FUNCTIONS, GUESS_SURE_TABLES, GUESS_TABLES, GUESS_THE_REST };

static bool looks_like_function(const struct code_walk *walk, const struct gap *gap)
{
	uint16_t before = walk->frames[gap->end];
	enum x86_beginning beginning;

	if (gap->end == 0)
		return true;
	beginning = x86_beginning_of(walk->code + gap->start, walk->size - gap->start);
	if (code_walk_is_aligned(walk, gap->start) || (gap->start > gap->end && !walk->aligns))
		return beginning >= X86_BEGINS_A_FUNCTION ||
		       (beginning == X86_BEGINS_WITH_ROOM && !gap->table);
	if (walk->aligns)
		return beginning == X86_BEGINS_A_FUNCTION_SURELY && !gap->table;
	/* Unaligned functions follow a return or a jump to another function. */
	return beginning == X86_BEGINS_A_FUNCTION_SURELY ||
	       (beginning == X86_BEGINS_A_FUNCTION && gap->end == gap->known_end &&
		(!before || x86_frame_is_at_entry(&walk->known_frames.items[before])));
}

static bool have_same_cfa(const struct x86_frame *a, const struct x86_frame *b)
{
	struct pkbpf_unwind_rule left = x86_frame_rule(a), right = x86_frame_rule(b);

	return left.cfa == right.cfa && left.cfa_offset == right.cfa_offset;
}

enum verdict { VERDICT_OPEN, VERDICT_RIGHT, VERDICT_WRONG };

/* Returns where execution continues while a frame is tried; SIZE_MAX: unknown. */
static size_t try_next(const struct code_walk *walk, size_t at,
		       const struct x86_instruction *instruction)
{
	size_t end = at + instruction->size;

	switch (x86_flow_of(instruction)) {
	case X86_FLOW_ON:
	case X86_FLOW_BRANCH:
		return end;
	case X86_FLOW_JUMP:
		return end + (size_t)instruction->immediate < walk->size
			       ? end + (size_t)instruction->immediate
			       : SIZE_MAX;
	default:
		return SIZE_MAX;
	}
}

/* Checks a frame for the code after a gap: a return must find the stack pointer as the call left
 * it, and a join with followed code must find the frame of that code. */
static enum verdict try_frame(const struct code_walk *walk, struct gap *gap,
			      const struct x86_frame *tried)
{
	struct x86_frame frame = *tried;
	struct x86_instruction instruction;
	size_t at = gap->start;

	for (int i = 0; i < MAX_TRIED_INSTRUCTIONS && gap->tries > 0 && at < walk->size &&
			code_walk_decode(walk, at, &instruction);
	     i++, gap->tries--) {
		if (walk->marks[at] & CODE_REACHED)
			return have_same_cfa(&frame, &walk->known_frames.items[walk->frames[at]])
				       ? VERDICT_RIGHT
				       : VERDICT_WRONG;
		if (walk->marks[at] & CODE_LENGTH)
			break;
		if (x86_is_return(&instruction))
			return x86_frame_is_at_entry(&frame) ? VERDICT_RIGHT : VERDICT_WRONG;
		x86_frame_step(&frame, &instruction);
		at = try_next(walk, at, &instruction);
	}
	return VERDICT_OPEN;
}

/* Returns the frame number of the code after a gap; NO_FRAME: unknown. */
static uint16_t frame_of_gap(const struct code_walk *walk, struct gap *gap, enum guess guess)
{
	const struct x86_frame *frames = walk->known_frames.items;
	/* The frame at the end of the preceding code, unless that ends in a return. */
	uint16_t before = walk->frames[gap->end];

	if (looks_like_function(walk, gap) &&
	    try_frame(walk, gap, &x86_frame_at_entry) != VERDICT_WRONG)
		return FRAME_AT_ENTRY;
	if (guess == GUESS_FUNCTIONS)
		return NO_FRAME;
	/* Compilers move parts of functions away, next to parts of other functions, which may have
	 * jump tables, too. */
	if (gap->table && !x86_frame_is_at_entry(&frames[gap->table]) &&
	    (guess > GUESS_SURE_TABLES ||
	     (before && have_same_cfa(&frames[before], &frames[gap->table]))) &&
	    try_frame(walk, gap, &frames[gap->table]) != VERDICT_WRONG)
		return gap->table;
	if (guess <= GUESS_TABLES)
		return NO_FRAME;
	/* Code after a jump belongs to the same function. */
	if (before &&
	    (!code_walk_is_aligned(walk, gap->start) ||
	     try_frame(walk, gap, &x86_frame_at_entry) == VERDICT_WRONG) &&
	    try_frame(walk, gap, &frames[before]) != VERDICT_WRONG)
		return before;
	return FRAME_AT_ENTRY;
}

/* Returns the next offset in unknown code at which a function may end. */
static size_t skip_unknown(const struct code_walk *walk, size_t at)
{
	struct x86_instruction instruction;
	enum x86_flow flow = X86_FLOW_ON;

	do {
		size_t end = at + CODE_WALK_ALIGN - (walk->offset + at) % CODE_WALK_ALIGN;

		if (code_walk_decode(walk, at, &instruction)) {
			end = at + instruction.size;
			flow = x86_flow_of(&instruction);
		} else {
			flow = X86_FLOW_END;
		}
		for (at++; at < end && at < walk->size && !walk->marks[at];)
			at++;
	} while (flow <= X86_FLOW_BRANCH && at < walk->size && !walk->marks[at] &&
		 !x86_padding_size(walk->code + at, walk->size - at));
	return at;
}

/* Returns the next offset after `at` that has a mark. */
static size_t next_known(const struct code_walk *walk, size_t at)
{
	for (at++; at < walk->size && !walk->marks[at];)
		at++;
	return at;
}

/* Follows the code after a gap if its frame is known. */
static void fill_gap(struct code_walk *walk, struct gap *gap, enum guess guess)
{
	uint16_t number = frame_of_gap(walk, gap, guess);

	if (!number)
		return;
	code_walk_hand_on(walk, gap->start, &walk->known_frames.items[number],
			  number == FRAME_AT_ENTRY ? CODE_BEGINS : 0);
	code_walk_follow(walk);
}

/* Returns whether functions are searched for in unknown code. */
static bool is_worth_reading(const struct gap *gap, size_t at, enum guess guess)
{
	return guess == GUESS_THE_REST ||
	       (guess == GUESS_FUNCTIONS && at - gap->known_end < MAX_UNKNOWN_BYTES);
}

/* Follows unreachable code. */
static void fill_gaps(struct code_walk *walk, enum guess guess)
{
	const uint8_t *marks = walk->marks;
	struct gap gap = {.tries = walk->size};

	for (size_t at = 0; at < walk->size;) {
		if (marks[at] & CODE_BEGINS)
			gap.table = NO_FRAME;
		if (marks[at] & CODE_BEHIND_TABLE)
			gap.table = walk->frames[at];
		if (marks[at] & CODE_LENGTH) {
			at += marks[at] & CODE_LENGTH;
			gap.known_end = at;
			continue;
		}
		gap.end = at;
		at = gap.start = code_walk_padding_end(walk, at, SIZE_MAX);
		if (at >= walk->size || marks[at] & CODE_LENGTH)
			continue;
		fill_gap(walk, &gap, guess);
		if (!(marks[at] & CODE_LENGTH))
			at = is_worth_reading(&gap, at, guess) ? skip_unknown(walk, at)
							       : next_known(walk, at);
	}
}

/* State of one pass that emits rows. */
struct rows {
	struct undescribed_code *work;
	cfi_row_fn row; /* NULL: only counts */
	void *context;
	size_t end; /* end of the range that gets rows */
	struct x86_frame frame;
	struct pkbpf_unwind_rule rule; /* the last rule that was emitted */
	bool gave_rule;
	bool changed; /* the frame may have changed since the last row */
	bool is_in_function;
	/* this function accesses the stack through a frame pointer it has not set up */
	bool borrows_frame;
};

static void give_rule(struct rows *rows, size_t at, struct pkbpf_unwind_rule rule)
{
	if (!rows->row || (rows->gave_rule && memcmp(&rule, &rows->rule, sizeof(rule)) == 0))
		return;
	rows->rule = rule;
	rows->gave_rule = true;
	rows->row(rows->context, rows->work->walk.offset + (uint32_t)at, &rule);
}

/*
 * No call returns to the address right behind a jump through a register. It is a return address
 * only where it was put on a new stack for the first function (make_fcontext() of Boost). The rule
 * is for the last byte of the jump: only look-ups of return addresses land there.
 */
static void end_behind_jump(struct rows *rows, size_t at, const struct x86_instruction *instruction)
{
	static const struct pkbpf_unwind_rule end = {.cfa = PKBPF_CFA_END};

	/* The next piece emits its rows later, and overlapping code may reach into it. */
	if (x86_flow_of(instruction) != X86_FLOW_JUMP_THROUGH || instruction->size < 2 ||
	    at + instruction->size > rows->end)
		return;
	give_rule(rows, at + instruction->size - 1, end);
	rows->changed = true;
}

static void count_instruction(struct rows *rows, const struct x86_instruction *instruction)
{
	rows->work->counts.known_bytes += instruction->size;
	if (x86_frame_is_in_chain(&rows->frame))
		rows->work->counts.frame_pointer_bytes += instruction->size;
	if (rows->borrows_frame || x86_flow_of(instruction) != X86_FLOW_ON ||
	    !x86_frame_is_borrowed(&rows->frame, instruction))
		return;
	rows->borrows_frame = true;
	rows->work->counts.borrowed_frames++;
}

/* Emits the rule of a followed instruction. */
static void pass_instruction(struct rows *rows, size_t at)
{
	struct code_walk *walk = &rows->work->walk;
	uint8_t marks = walk->marks[at];
	struct x86_instruction instruction;

	if (marks & CODE_BEGINS || !rows->is_in_function) {
		rows->work->counts.functions++;
		rows->is_in_function = true;
		rows->borrows_frame = false;
	}
	if (marks & (CODE_REACHED | CODE_BEHIND_CALL)) {
		rows->frame = walk->known_frames.items[walk->frames[at]];
		rows->changed = true;
	}
	code_walk_decode(walk, at, &instruction);
	if (rows->changed)
		give_rule(rows, at, x86_frame_rule(&rows->frame));
	rows->changed = false;
	count_instruction(rows, &instruction);
	end_behind_jump(rows, at, &instruction);
	if (x86_frame_is_left_alone(&instruction))
		return;
	x86_frame_step(&rows->frame, &instruction);
	rows->changed = true;
}

static void give_rows(struct rows *rows)
{
	for (size_t at = 0, length; at < rows->end; at += length) {
		length = rows->work->walk.marks[at] & CODE_LENGTH;
		if (length) {
			pass_instruction(rows, at);
			continue;
		}
		give_rule(rows, at, (struct pkbpf_unwind_rule){0});
		rows->changed = true;
		length = 1;
	}
}

/* Returns the first known start at or after an offset. */
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

/* Returns the start of the last function, which may continue in the next piece. The result is in
 * the second half, so that the next piece begins far enough from this one's start. */
static size_t end_of_last_but_one(const struct code_walk *walk)
{
	for (size_t at = walk->size; at > (walk->size + 1) / 2; at--) {
		if (walk->marks[at - 1] & CODE_BEGINS && walk->marks[at - 1] & CODE_LENGTH)
			return at - 1;
	}
	return walk->size;
}

static void add_starts(struct undescribed_code *work, uint64_t entry)
{
	struct code_walk *walk = &work->walk;
	const uint32_t *end = first_start(work, (uint64_t)walk->offset + walk->size);

	if (entry >= walk->offset)
		code_walk_hand_on(walk, entry - walk->offset, &x86_frame_outermost, CODE_BEGINS);
	for (const uint32_t *start = first_start(work, walk->offset); start < end; start++)
		code_walk_add_start(walk, *start - walk->offset);
}

size_t undescribed_code_run(struct undescribed_code *work, const struct code_piece *piece,
			    cfi_row_fn row, void *context)
{
	struct rows rows = {.work = work, .row = row, .context = context};

	if (!code_walk_begin(&work->walk, piece->bytes, piece->size, piece->offset))
		return 0;
	add_starts(work, piece->entry);
	code_walk_look(&work->walk);
	code_walk_follow(&work->walk);
	for (enum guess guess = GUESS_FUNCTIONS; guess <= GUESS_THE_REST; guess++)
		fill_gaps(&work->walk, guess);
	rows.end = piece->is_last ? piece->size : end_of_last_but_one(&work->walk);
	give_rows(&rows);
	return rows.end;
}
