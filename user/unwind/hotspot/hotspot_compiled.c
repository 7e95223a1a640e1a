// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of code whose frame size HotSpot tells: compiled methods, native wrappers, run-time stubs.
 *
 * The instructions are followed from the entries. What they do not reach (handlers of exceptions,
 * code behind calls that need not return) begins with the frame of the body.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instruction/x86_flow.h"
#include "unwind/hotspot/hotspot_rows_private.h"

#define WORD_BYTES 8
/* The jump over the first instruction of a method that is no longer entered, and what it covers. */
#define JUMP	      0xe9
#define JUMP_BYTES    5
#define COVERED_BYTES 7

/* How the rule follows from a frame; NULL: x86_frame_rule(). */
typedef struct pkbpf_unwind_rule (*rule_fn)(const struct hotspot_rows *rows,
					    const struct x86_frame *frame);

static struct x86_frame body_of(const struct hotspot_rows *rows)
{
	return x86_frame_of_body((int32_t)(rows->blob->frame_words * WORD_BYTES));
}

/* Follows what has not been reached, from the body's frame. */
static void follow_the_rest(struct hotspot_rows *rows, const struct x86_frame *body)
{
	struct code_walk *walk = &rows->walk;

	for (size_t at = 0; at < walk->size;) {
		size_t length = walk->marks[at] & CODE_LENGTH;

		if (!length) {
			code_walk_hand_on(walk, at, body, 0);
			code_walk_follow(walk);
			length = walk->marks[at] & CODE_LENGTH;
		}
		at += length ? length : 1;
	}
}

static struct pkbpf_unwind_rule rule_of(const struct hotspot_rows *rows, rule_fn rule,
					const struct x86_frame *frame)
{
	struct x86_frame body = body_of(rows);
	struct pkbpf_unwind_rule result = rule ? rule(rows, frame) : x86_frame_rule(frame);

	if (result.cfa != PKBPF_CFA_NONE)
		return result;
	/* Without a rule the unwinder would guess. Calls that do not return align the stack in
	 * compiled methods; wrappers and stubs have a frame pointer before they do. */
	return rows->blob->kind == HOTSPOT_NMETHOD ? x86_frame_rule(&body)
						   : hotspot_rule_frame_pointer();
}

static bool contains(size_t at, size_t length, uint64_t address, uint64_t begin)
{
	return address > begin && address - 1 - begin >= at && address - 1 - begin < at + length;
}

/* A deoptimized frame returns to a handler that no call precedes: the row before it is the
 * body's. */
static void give_before_handler(struct hotspot_rows *rows, size_t at, size_t length,
				const struct pkbpf_unwind_rule *of_body)
{
	const struct hotspot_blob *blob = rows->blob;

	if (contains(at, length, blob->deopt_handler, blob->code_begin) ||
	    contains(at, length, blob->deopt_mh_handler, blob->code_begin))
		hotspot_rows_give(rows, at + length - 1, of_body);
}

/* Passes an instruction. HotSpot's LEAVE always takes down a frame with a frame pointer, though
 * that may have been restored from a copy of all registers. */
static void step(struct x86_frame *frame, const struct x86_instruction *instruction)
{
	int32_t bytes;

	x86_frame_step(frame, instruction);
	if (instruction->map == X86_MAP_ONE_BYTE && instruction->opcode == 0xc9 &&
	    !x86_frame_size(frame, &bytes))
		*frame = x86_frame_at_entry;
}

/* Gives the rules of the code from `from` to `end`. Returns where the last instruction ends. */
static size_t give_followed(struct hotspot_rows *rows, size_t from, size_t end,
			    const struct x86_frame *body, rule_fn rule)
{
	struct code_walk *walk = &rows->walk;
	struct pkbpf_unwind_rule of_body = rule_of(rows, rule, body), next;
	struct x86_instruction instruction;
	size_t at = 0;

	for (size_t length; at < end; at += length) {
		length = walk->marks[at] & CODE_LENGTH;
		if (!length || !code_walk_decode(walk, at, &instruction)) {
			if (at >= from)
				hotspot_rows_give(rows, at, &of_body);
			rows->frame = *body;
			length = 1;
			continue;
		}
		if (walk->marks[at] & (CODE_REACHED | CODE_BEHIND_CALL))
			rows->frame = walk->known_frames.items[walk->frames[at]];
		next = rule_of(rows, rule, &rows->frame);
		if (at >= from)
			hotspot_rows_give(rows, at, &next);
		if (at >= from)
			give_before_handler(rows, at, length, &of_body);
		step(&rows->frame, &instruction);
	}
	return at;
}

static void hand_on_entry(struct hotspot_rows *rows, uint64_t address)
{
	if (address >= rows->blob->code_begin && address < rows->blob->code_end)
		code_walk_hand_on(&rows->walk, address - rows->blob->code_begin,
				  &x86_frame_at_entry, CODE_BEGINS);
}

/* The debug information describes return addresses: there the frame is the body's. Behind calls
 * that never return other code may begin, to which a branch leads. */
static void compare_calls(struct hotspot_rows *rows)
{
	const struct code_walk *walk = &rows->walk;
	int32_t bytes;

	for (size_t i = 0; i < rows->blob->pc_count; i++) {
		uint32_t at = rows->blob->pcs[i].offset;

		if (at >= walk->size || !(walk->marks[at] & CODE_BEHIND_CALL) ||
		    walk->marks[at] & CODE_REACHED)
			continue;
		rows->counts.calls++;
		rows->counts.contradictions +=
			!x86_frame_size(&walk->known_frames.items[walk->frames[at]], &bytes) ||
			bytes != (int32_t)(rows->blob->frame_words * WORD_BYTES);
	}
}

/*
 * A method that is no longer entered has a jump out of it over the first bytes of its verified
 * entry. Below it was a touch of the stack, or room for the frame. Points rows->code to a copy
 * without the jump. Returns false when out of memory.
 */
static bool put_first_instruction_back(struct hotspot_rows *rows)
{
	static const uint8_t nop[COVERED_BYTES] = {0x0f, 0x1f, 0x80}, store_fp[] = {0x48, 0x89},
			     make_room[] = {0x48, 0x81, 0xec};
	const struct hotspot_blob *blob = rows->blob;
	uint64_t at = blob->verified_entry - blob->code_begin;
	uint32_t room = (blob->frame_words - 1) * WORD_BYTES;
	const uint8_t *behind;
	int32_t distance;

	if (at >= rows->size || rows->size - at < COVERED_BYTES + 4 || rows->code[at] != JUMP)
		return true;
	behind = rows->code + at + COVERED_BYTES;
	memcpy(&distance, rows->code + at + 1, sizeof(distance));
	if (at + JUMP_BYTES + (uint64_t)distance < rows->size)
		return true;
	if (rows->capacity < rows->size) {
		free(rows->bytes);
		rows->bytes = malloc(rows->size);
		rows->capacity = rows->bytes ? rows->size : 0;
		if (!rows->bytes)
			return false;
	}
	memcpy(rows->bytes, rows->code, rows->size);
	if (memcmp(behind, store_fp, sizeof(store_fp)) == 0 && (behind[2] & 0x3f) == 0x2c &&
	    behind[3] == 0x24) { /* mov %rbp,n(%rsp) */
		memcpy(rows->bytes + at, make_room, sizeof(make_room));
		memcpy(rows->bytes + at + sizeof(make_room), &room, sizeof(room));
	} else if (behind[0] == 0x55) { /* push %rbp */
		memcpy(rows->bytes + at, nop, sizeof(nop));
	}
	rows->code = rows->bytes;
	return true;
}

int hotspot_rows_of_compiled(struct hotspot_rows *rows)
{
	const struct hotspot_blob *blob = rows->blob;
	struct x86_frame body = body_of(rows);

	if (blob->frame_words < 2) {
		/* It is being written. */
		static const struct pkbpf_unwind_rule pending = {.cfa = PKBPF_CFA_PENDING};

		hotspot_rows_give(rows, 0, &pending);
		return 0;
	}
	if (!put_first_instruction_back(rows) ||
	    !code_walk_begin(&rows->walk, rows->code, rows->size, 0))
		return -ENOMEM;
	hand_on_entry(rows, blob->entry);
	hand_on_entry(rows, blob->verified_entry);
	if (blob->osr_entry)
		hand_on_entry(rows, blob->osr_entry);
	code_walk_follow(&rows->walk);
	compare_calls(rows);
	for (size_t i = 0; i < blob->pc_count; i++)
		code_walk_hand_on(&rows->walk, blob->pcs[i].offset, &body, 0);
	if (blob->deopt_handler)
		code_walk_hand_on(&rows->walk, blob->deopt_handler - blob->code_begin, &body, 0);
	code_walk_follow(&rows->walk);
	follow_the_rest(rows, &body);
	give_followed(rows, 0, rows->size, &body, NULL);
	return 0;
}

/* The frame at a blob's first instruction: some are jumped to, and make room for a return address
 * themselves. Their stack pointer at calls is then one word above the frame size. */
static bool makes_room_for_return(const struct hotspot_rows *rows)
{
	const struct code_walk *walk = &rows->walk;
	int32_t expected = (int32_t)((rows->blob->frame_words + 1) * WORD_BYTES), bytes;
	size_t calls = 0;

	for (size_t at = 1; at < walk->size; at++) {
		if (!(walk->marks[at] & CODE_BEHIND_CALL))
			continue;
		calls++;
		if (!x86_frame_size(&walk->known_frames.items[walk->frames[at]], &bytes) ||
		    bytes != expected)
			return false;
	}
	return calls;
}

/* The caller was interrupted at a poll, and made no call. */
static struct pkbpf_unwind_rule rule_of_jumped_to(const struct hotspot_rows *rows,
						  const struct x86_frame *frame)
{
	struct pkbpf_unwind_rule rule = x86_frame_rule(frame);
	int32_t bytes;

	if (!x86_frame_size(frame, &bytes))
		return rule;
	if (!bytes)
		return hotspot_rule_unknown();
	if (rows->blob->kind != HOTSPOT_SAFEPOINT)
		return rule;
	rule.cfa = PKBPF_CFA_SP_INTERRUPTED;
	rule.cfa_offset = bytes;
	rule.aux = 0;
	return rule;
}

/* Until the room for the return address is filled, the address is in the thread, to which R15
 * points. */
static struct pkbpf_unwind_rule rule_of_unfilled(const struct hotspot_rows *rows,
						 const struct x86_frame *frame)
{
	struct pkbpf_unwind_rule rule = x86_frame_rule(frame);
	int32_t bytes;

	if (!x86_frame_size(frame, &bytes))
		return rule;
	rule.cfa = PKBPF_CFA_SP_INTERRUPTED;
	rule.cfa_offset = bytes;
	rule.aux = 0;
	rule.ra = PKBPF_RA_AT_REGISTER;
	rule.ra_offset = PKBPF_RA_AT(15, rows->thread_return);
	return rule;
}

static bool follow_from_begin(struct hotspot_rows *rows, const struct x86_frame *first)
{
	if (!code_walk_begin(&rows->walk, rows->code, rows->size, 0))
		return false;
	code_walk_hand_on(&rows->walk, 0, first, CODE_BEGINS);
	code_walk_follow(&rows->walk);
	return true;
}

/* Returns the end of the wanted bytes at or behind `at`; 0: there are none. */
static size_t find_bytes(const struct hotspot_rows *rows, size_t at, const char *wanted,
			 size_t size)
{
	const uint8_t *found = memmem(rows->code + at, rows->size - at, wanted, size);

	return found ? (size_t)(found - rows->code) + size : 0;
}

/* Returns the end of the code that fills the room for the return address, and where in the thread
 * the address is until then. 0: none. */
static size_t find_filling(struct hotspot_rows *rows)
{
	/* mov n(%r15),%rbx; mov %rbx,8(%rbp) */
	static const char load[] = {'\x49', '\x8b', '\x9f'},
			  store[] = {'\x48', '\x89', '\x5d', '\x08'};
	size_t at = find_bytes(rows, 0, load, sizeof(load));
	int32_t place;

	if (rows->blob->kind != HOTSPOT_SAFEPOINT || !at ||
	    rows->size - at < sizeof(place) + sizeof(store) ||
	    memcmp(rows->code + at + sizeof(place), store, sizeof(store)) != 0)
		return 0;
	memcpy(&place, rows->code + at, sizeof(place));
	if (place < 0 || place > PKBPF_RA_AT_MAX_BYTES)
		return 0;
	rows->thread_return = (int16_t)place;
	return at + sizeof(place) + sizeof(store);
}

/*
 * Blobs that put frames of the interpreter in the place of a compiled one: behind their last frame
 * the stack is aligned, so that its size says nothing, and the frame pointer counts.
 */
static size_t interpreted_frame_at(const struct hotspot_rows *rows)
{
	/* push (%rcx); push %rbp; mov %rsp,%rbp, in both encodings of the last. */
	static const char forms[][6] = {{'\xff', '\x31', '\x55', '\x48', '\x8b', '\xec'},
					{'\xff', '\x31', '\x55', '\x48', '\x89', '\xe5'}};
	size_t last = 0;

	if (rows->blob->kind != HOTSPOT_DEOPTIMIZATION && rows->blob->kind != HOTSPOT_UNCOMMON_TRAP)
		return 0;
	for (size_t form = 0; form < 2; form++)
		for (size_t at = 0; (at = find_bytes(rows, at, forms[form], 6));)
			last = at > last ? at : last;
	return last;
}

/* Gives one rule from `from` to the next LEAVE. */
static void give_interpreted(struct hotspot_rows *rows, size_t from)
{
	struct pkbpf_unwind_rule framed = hotspot_rule_frame_pointer(), leaf = hotspot_rule_leaf();
	size_t leave = find_bytes(rows, from, "\xc9", 1);

	hotspot_rows_give(rows, from, &framed);
	if (leave)
		hotspot_rows_give(rows, leave, &leaf);
}

int hotspot_rows_of_framed(struct hotspot_rows *rows)
{
	struct x86_frame body = body_of(rows), begin = x86_frame_at_entry;
	size_t filled, interpreted, from = 0;
	bool jumped_to;

	if (rows->blob->frame_words < 2)
		return hotspot_rows_of_stubs(rows);
	if (!follow_from_begin(rows, &begin))
		return -ENOMEM;
	jumped_to = makes_room_for_return(rows);
	begin.sp_offset = 0;
	if (jumped_to && !follow_from_begin(rows, &begin))
		return -ENOMEM;
	follow_the_rest(rows, &body);
	filled = jumped_to ? find_filling(rows) : 0;
	if (filled)
		from = give_followed(rows, 0, filled, &body, rule_of_unfilled);
	interpreted = interpreted_frame_at(rows);
	give_followed(rows, from, interpreted ? interpreted : rows->size, &body,
		      jumped_to ? rule_of_jumped_to : NULL);
	if (interpreted)
		give_interpreted(rows, interpreted);
	return 0;
}
