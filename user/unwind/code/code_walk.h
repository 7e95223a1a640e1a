/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows the execution of a piece of x86-64 code from places where a frame is known, and hands
 * frames on along branches.
 *
 * Each instruction is followed once, from the surest way to it: what is reached from where
 * functions are known to begin, by calls and branches; then what lies behind calls, which need not
 * return. What is left no code leads to; whoever knows more of it hands a frame on to it.
 *
 * Bounds on hostile code: time and memory are linear in the bytes of the piece. One thread at a
 * time.
 */
#ifndef PKBPF_UNWIND_CODE_CODE_WALK_H
#define PKBPF_UNWIND_CODE_CODE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "instruction/x86_instruction.h"
#include "unwind/cfi/x86_frame.h"

/* What is known of a byte of code. */
enum {
	CODE_LENGTH = 0x0f,	  /* of the instruction that begins here and was followed */
	CODE_BEGINS = 0x10,	  /* a function begins here */
	CODE_REACHED = 0x20,	  /* the target of a branch or call */
	CODE_BEHIND_CALL = 0x40,  /* the end of a call that may return */
	CODE_BEHIND_TABLE = 0x80, /* the end of a jump through a table, or through anything else */
};

/* Numbers of frames. */
enum { NO_FRAME = 0, FRAME_AT_ENTRY = 1, FIRST_FRAME_HANDED_ON = 2 };

struct code_offsets {
	uint32_t *items;
	size_t count, capacity;
};

/* One that is called, and behind whose calls functions end. */
struct called_function {
	uint32_t offset, calls, ends;
};

/* most branches hand on what another one has handed on before */
#define CODE_WALK_RECENT_FRAMES	   1024
#define CODE_WALK_CALLED_FUNCTIONS 1024

struct code_walk {
	const uint8_t *code; /* the piece; borrowed */
	size_t size;
	uint32_t offset; /* of the piece in its file's code */
	bool has_starts; /* functions are known to begin in it */
	bool aligns;	 /* most functions begin at multiples of CODE_WALK_ALIGN */
	uint8_t *marks;	 /* by the offset in the piece */
	/* the number of the frame before the instruction here, or at the end of a jump that ends
	 * here */
	uint16_t *frames;

	ARRAY_OF(struct x86_frame)
	known_frames; /* by their numbers; they move when one is handed on */
	uint16_t recent[CODE_WALK_RECENT_FRAMES]; /* numbers by hashes of the frames */
	size_t capacity;			  /* bytes of a piece that there is room for */
	struct code_offsets reached;		  /* to be followed, the last one first */
	struct code_offsets returns; /* ends of calls, to be followed after these in their order */
	size_t next_return;
	struct called_function called[CODE_WALK_CALLED_FUNCTIONS]; /* by hashes of their offsets */
};

#define CODE_WALK_ALIGN 16

/* Begins a piece of code of at least one byte. The walk is zeroed before its first. false: out of
 * memory. */
bool code_walk_begin(struct code_walk *walk, const uint8_t *code, size_t size, uint32_t offset);
void code_walk_free(struct code_walk *walk);
/* A function is known to begin at a place of the piece, whatever the bytes before it look like. */
void code_walk_add_start(struct code_walk *walk, uint32_t start);
/* Hands a frame on to a place that nobody has come to yet; marks: CODE_BEGINS or 0. What is handed
 * on before code_walk_look() is followed with the first code_walk_follow(). */
void code_walk_hand_on(struct code_walk *walk, uint64_t target, const struct x86_frame *frame,
		       uint8_t marks);
/* Once all starts are known: looks at all that may be calls for what has to be known early. */
void code_walk_look(struct code_walk *walk);
/* Follows all that frames were handed on to. */
void code_walk_follow(struct code_walk *walk);

/* false: the bytes are no instruction or a trap, with which space is filled, or a function begins
 * in the middle of them. */
bool code_walk_decode(const struct code_walk *walk, size_t at,
		      struct x86_instruction *ret_instruction);
/* Where the padding from a place on ends, or `limit` bytes of it. */
size_t code_walk_padding_end(const struct code_walk *walk, size_t at, size_t limit);
bool code_walk_is_aligned(const struct code_walk *walk, size_t at);

#endif
