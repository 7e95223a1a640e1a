// SPDX-License-Identifier: BSD-2-Clause
/* Steps over instructions, and queues the offsets to follow. */
#include "unwind/code/code_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "instruction/x86_flow.h"

#define MAX_FRAMES 65536
/* Caps the padding that is read after each call, so that hostile code costs no more than other
 * code. */
#define MAX_PADDING_BYTES 64
#define CALLS_PER_END	  16 /* 1 ending call in this many: the callee never returns */
#define MIN_CALLS	  16 /* fewer calls do not tell whether functions are aligned */
#define CALL		  0xe8
#define CALL_BYTES	  5

void code_walk_free(struct code_walk *walk)
{
	array_free(&walk->returns);
	array_free(&walk->reached);
	free(walk->marks);
	free(walk->frames);
	array_free(&walk->known_frames);
}

/* Returns false when out of memory. */
static bool make_room(struct code_walk *walk, size_t size)
{
	if (size <= walk->capacity)
		return true;
	free(walk->frames);
	free(walk->marks);
	walk->frames = malloc(size * sizeof(*walk->frames));
	walk->marks = malloc(size * sizeof(*walk->marks));
	walk->capacity = walk->frames && walk->marks ? size : 0;
	return walk->capacity;
}

bool code_walk_begin(struct code_walk *walk, const uint8_t *code, size_t size, uint32_t offset)
{
	if (!make_room(walk, size))
		return false;
	walk->code = code;
	walk->size = size;
	walk->offset = offset;
	walk->has_starts = false;
	memset(walk->frames, 0, size * sizeof(*walk->frames));
	memset(walk->marks, 0, size * sizeof(*walk->marks));
	memset(walk->recent, 0, sizeof(walk->recent));
	walk->reached.count = walk->returns.count = walk->next_return = 0;
	if (!array_reserve(&walk->known_frames, FIRST_FRAME_HANDED_ON))
		return false;
	walk->known_frames.count = FIRST_FRAME_HANDED_ON;
	walk->known_frames.items[FRAME_AT_ENTRY] = x86_frame_at_entry;
	return true;
}

/* Returns NO_FRAME when the frame numbers are used up. */
static uint16_t keep_frame(struct code_walk *walk, const struct x86_frame *frame)
{
	uint16_t *recent = &walk->recent[x86_frame_hash(frame) % CODE_WALK_RECENT_FRAMES];
	struct x86_frame copy = *frame; /* *frame may be in the array that moves */

	if (*recent && memcmp(&walk->known_frames.items[*recent], frame, sizeof(*frame)) == 0)
		return *recent;
	if (walk->known_frames.count == MAX_FRAMES || !array_add(&walk->known_frames))
		return NO_FRAME;
	*recent = (uint16_t)(walk->known_frames.count - 1);
	walk->known_frames.items[*recent] = copy;
	return *recent;
}

static bool add_offset(struct code_offsets *offsets, uint32_t offset)
{
	uint32_t *item = array_add(offsets);

	if (item)
		*item = offset;
	return item;
}

void code_walk_hand_on(struct code_walk *walk, uint64_t target, const struct x86_frame *frame,
		       uint8_t marks)
{
	uint16_t number;

	if (target >= walk->size || walk->marks[target] & (CODE_LENGTH | CODE_REACHED))
		return;
	number = keep_frame(walk, frame);
	if (!number || !add_offset(&walk->reached, (uint32_t)target))
		return;
	walk->frames[target] = number;
	walk->marks[target] |= CODE_REACHED | marks;
}

static void hand_on_behind_call(struct code_walk *walk, uint64_t end, const struct x86_frame *frame)
{
	uint16_t number;

	if (end >= walk->size || walk->marks[end] & (CODE_LENGTH | CODE_REACHED | CODE_BEHIND_CALL))
		return;
	number = keep_frame(walk, frame);
	if (!number || !add_offset(&walk->returns, (uint32_t)end))
		return;
	walk->frames[end] = number;
	walk->marks[end] |= CODE_BEHIND_CALL;
}

/* Keeps the frame at the end of a jump: the code after the jump may begin with it. */
static void remember_jump(struct code_walk *walk, uint64_t end, const struct x86_frame *frame,
			  enum x86_flow flow)
{
	if (end >= walk->size)
		return;
	if (flow == X86_FLOW_JUMP_THROUGH)
		walk->marks[end] |= CODE_BEHIND_TABLE;
	if (!walk->frames[end])
		walk->frames[end] = keep_frame(walk, frame);
}

static bool holds_known_start(const struct code_walk *walk, size_t start, size_t end)
{
	if (!walk->has_starts)
		return false;
	for (size_t at = start; at < end; at++) {
		if (walk->frames[at] == FRAME_AT_ENTRY)
			return true;
	}
	return false;
}

size_t code_walk_padding_end(const struct code_walk *walk, size_t at, size_t limit)
{
	size_t end = limit < walk->size - at ? at + limit : walk->size;

	while (at < end && !(walk->marks[at] & (CODE_LENGTH | CODE_REACHED))) {
		size_t size = x86_padding_size(walk->code + at, walk->size - at);

		if (!size || holds_known_start(walk, at + 1, at + size))
			break;
		at += size;
	}
	return at;
}

bool code_walk_is_aligned(const struct code_walk *walk, size_t at)
{
	return (walk->offset + at) % CODE_WALK_ALIGN == 0;
}

/* Kinds of code after a call. */
enum behind_call { BEHIND_IS_CODE, BEHIND_MAY_BE_A_FUNCTION, BEHIND_IS_A_FUNCTION };

static enum behind_call look_behind_call(const struct code_walk *walk, size_t at,
					 const struct x86_frame *frame)
{
	size_t end = code_walk_padding_end(walk, at, MAX_PADDING_BYTES);
	enum x86_beginning beginning;

	if (end >= walk->size)
		return BEHIND_IS_CODE;
	beginning = x86_beginning_of(walk->code + end, walk->size - end);
	if (end > at) {
		bool may_begin = x86_frame_is_outermost(frame) || beginning != X86_BEGINS_NOTHING;

		return code_walk_is_aligned(walk, end) && may_begin ? BEHIND_IS_A_FUNCTION
								    : BEHIND_IS_CODE;
	}
	/* Without padding this may be code that saves registers as arguments of another call; it is
	 * aligned only by chance. */
	if (walk->aligns && !code_walk_is_aligned(walk, end))
		return BEHIND_IS_CODE;
	if (beginning == X86_BEGINS_A_FUNCTION_SURELY)
		return walk->aligns ? BEHIND_MAY_BE_A_FUNCTION : BEHIND_IS_A_FUNCTION;
	return beginning == X86_BEGINS_A_FUNCTION && !walk->aligns ? BEHIND_MAY_BE_A_FUNCTION
								   : BEHIND_IS_CODE;
}

bool code_walk_decode(const struct code_walk *walk, size_t at,
		      struct x86_instruction *ret_instruction)
{
	return walk->code[at] != INT3 &&
	       x86_decode(walk->code + at, walk->size - at, ret_instruction) &&
	       !holds_known_start(walk, at + 1, at + ret_instruction->size);
}

/* A function whose address is taken, if the target looks like a function's beginning. */
static void follow_pointer(struct code_walk *walk, uint64_t target)
{
	if (target < walk->size &&
	    x86_beginning_of(walk->code + target, walk->size - target) >= X86_BEGINS_A_FUNCTION)
		code_walk_hand_on(walk, target, &x86_frame_at_entry, CODE_BEGINS);
}

/* Applies the instruction to the frame and passes the frame to its targets. Returns whether the
 * next instruction is followed at once. */
static bool follow_instruction(struct code_walk *walk, size_t at,
			       const struct x86_instruction *instruction, struct x86_frame *frame)
{
	uint64_t end = at + instruction->size, target = end + (uint64_t)instruction->immediate;
	enum x86_flow flow = x86_flow_of(instruction);

	if (x86_is_call(instruction))
		code_walk_hand_on(walk, target, &x86_frame_at_entry, CODE_BEGINS);
	else if (x86_is_own_address(instruction))
		follow_pointer(walk, end + (uint64_t)(int64_t)instruction->displacement);
	if (!x86_frame_is_left_alone(instruction))
		x86_frame_step(frame, instruction);
	if (flow == X86_FLOW_BRANCH || flow == X86_FLOW_JUMP)
		code_walk_hand_on(walk, target, frame, 0);
	if (flow == X86_FLOW_JUMP || flow == X86_FLOW_JUMP_THROUGH)
		remember_jump(walk, end, frame, flow);
	if (!x86_may_be_last(instruction))
		return flow == X86_FLOW_ON || flow == X86_FLOW_BRANCH;
	if (look_behind_call(walk, end, frame) != BEHIND_IS_A_FUNCTION)
		hand_on_behind_call(walk, end, frame);
	return false;
}

/* Follows execution from an offset with a known frame until it ends or reaches code that was
 * followed before. */
static void follow(struct code_walk *walk, size_t at)
{
	struct x86_frame frame = walk->known_frames.items[walk->frames[at]];
	struct x86_instruction instruction;

	do {
		if (walk->marks[at] & CODE_LENGTH || !code_walk_decode(walk, at, &instruction))
			return;
		walk->marks[at] |= instruction.size;
		if (!follow_instruction(walk, at, &instruction, &frame))
			return;
		at += instruction.size;
	} while (at < walk->size && !(walk->marks[at] & CODE_REACHED));
}

/* Returns the target of the call that ends here; it is never offset 0. Returns false when there is
 * no such call. */
static bool called_at(const struct code_walk *walk, size_t end, uint32_t *ret_called)
{
	int32_t distance;

	if (end < CALL_BYTES || walk->code[end - CALL_BYTES] != CALL)
		return false;
	memcpy(&distance, walk->code + end - sizeof(distance), sizeof(distance));
	*ret_called = walk->offset + (uint32_t)end + (uint32_t)distance;
	return *ret_called != 0;
}

static struct called_function *called_function(struct code_walk *walk, uint32_t offset)
{
	return &walk->called[(offset ^ offset >> 10) % CODE_WALK_CALLED_FUNCTIONS];
}

/* Returns the end of the next bytes that look like a call; 0: there is none. */
static size_t next_call(const struct code_walk *walk, size_t at)
{
	const uint8_t *found = NULL;

	if (at + CALL_BYTES < walk->size)
		found = memchr(walk->code + at, CALL, walk->size - CALL_BYTES - at);
	return found ? (size_t)(found - walk->code) + CALL_BYTES : 0;
}

/* Compilers that optimize for size do not align functions. */
static bool aligns_functions(const struct code_walk *walk)
{
	size_t count = 0, aligned = 0;
	uint32_t called;

	for (size_t end = next_call(walk, 0); end; end = next_call(walk, end - CALL_BYTES + 1)) {
		if (!called_at(walk, end, &called) || called - walk->offset >= walk->size)
			continue;
		count++;
		aligned += called % CODE_WALK_ALIGN == 0;
	}
	return count >= MIN_CALLS && aligned >= count / 3;
}

/* Finds functions that do not return: the next function directly follows calls to them. */
static void find_ending_calls(struct code_walk *walk)
{
	uint32_t offset;

	memset(walk->called, 0, sizeof(walk->called));
	for (size_t end = next_call(walk, 0); end; end = next_call(walk, end - CALL_BYTES + 1)) {
		struct called_function *called;

		if (!called_at(walk, end, &offset) ||
		    look_behind_call(walk, end, &x86_frame_at_entry) == BEHIND_IS_CODE)
			continue;
		called = called_function(walk, offset);
		if (!called->ends)
			called->offset = offset;
		called->ends += called->offset == offset;
	}
	for (size_t end = next_call(walk, 0); end; end = next_call(walk, end - CALL_BYTES + 1)) {
		if (called_at(walk, end, &offset))
			called_function(walk, offset)->calls +=
				called_function(walk, offset)->offset == offset;
	}
}

static bool call_is_ending(struct code_walk *walk, size_t end)
{
	const struct called_function *called;
	uint32_t offset;

	if (!called_at(walk, end, &offset))
		return false;
	called = called_function(walk, offset);
	return called->offset == offset && called->ends >= called->calls / CALLS_PER_END;
}

void code_walk_follow(struct code_walk *walk)
{
	while (walk->reached.count || walk->next_return < walk->returns.count) {
		if (walk->reached.count)
			follow(walk, walk->reached.items[--walk->reached.count]);
		else if (call_is_ending(walk, walk->returns.items[walk->next_return]))
			walk->next_return++;
		else
			follow(walk, walk->returns.items[walk->next_return++]);
	}
}

void code_walk_add_start(struct code_walk *walk, uint32_t start)
{
	if (walk->marks[start] & CODE_REACHED)
		return;
	code_walk_hand_on(walk, start, &x86_frame_at_entry, CODE_BEGINS);
	walk->frames[start] = FRAME_AT_ENTRY;
	walk->has_starts = true;
}

void code_walk_look(struct code_walk *walk)
{
	walk->aligns = aligns_functions(walk);
	find_ending_calls(walk);
}
