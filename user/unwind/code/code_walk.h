/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows the execution of a piece of x86-64 code from places with a known frame, and passes frames
 * along branches.
 *
 * Each instruction is followed once, in order of certainty: first code reachable by calls and
 * branches from known function starts, then code behind calls, since a call need not return. The
 * remaining code is unreachable; the caller passes frames to it with code_walk_hand_on().
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

/* Marks of one byte of code. */
enum {
	CODE_LENGTH = 0x0f,	  /* length of the followed instruction that begins here */
	CODE_BEGINS = 0x10,	  /* a function begins here */
	CODE_REACHED = 0x20,	  /* target of a branch or call */
	CODE_BEHIND_CALL = 0x40,  /* end of a call that may return */
	CODE_BEHIND_TABLE = 0x80, /* end of a jump through a table, register or memory */
};

/* Frame numbers. */
enum { NO_FRAME = 0, FRAME_AT_ENTRY = 1, FIRST_FRAME_HANDED_ON = 2 };

struct code_offsets {
	uint32_t *items;
	size_t count, capacity;
};

/* A called function, with the number of calls to it and of those at which the calling function
 * ends. */
struct called_function {
	uint32_t offset, calls, ends;
};

/* Most branches pass a frame that another branch has passed before. */
#define CODE_WALK_RECENT_FRAMES	   1024
#define CODE_WALK_CALLED_FUNCTIONS 1024

struct code_walk {
	const uint8_t *code; /* the piece; borrowed */
	size_t size;
	uint32_t offset; /* offset of the piece in the file's code */
	bool has_starts; /* the piece contains known function starts */
	bool aligns;	 /* most functions begin at multiples of CODE_WALK_ALIGN */
	uint8_t *marks;	 /* indexed by the offset in the piece */
	/* frame number before the instruction at this offset, or at the end of a jump that ends
	 * here */
	uint16_t *frames;

	ARRAY_OF(struct x86_frame)
	known_frames; /* indexed by frame number; an addition may move them */
	uint16_t recent[CODE_WALK_RECENT_FRAMES]; /* frame numbers by hash of the frame */
	size_t capacity;			  /* allocated size in bytes of a piece */
	struct code_offsets reached;		  /* offsets to follow, last in first out */
	struct code_offsets returns; /* ends of calls to follow next, first in first out */
	size_t next_return;
	struct called_function called[CODE_WALK_CALLED_FUNCTIONS]; /* by hash of offset */
};

#define CODE_WALK_ALIGN 16

/* Begins a piece of at least one byte. The walk must be zeroed before its first piece. Returns
 * false when out of memory. */
bool code_walk_begin(struct code_walk *walk, const uint8_t *code, size_t size, uint32_t offset);
void code_walk_free(struct code_walk *walk);
/* Marks a known function start, whatever the bytes before it look like. */
void code_walk_add_start(struct code_walk *walk, uint32_t start);
/* Passes a frame to an offset that has not been reached yet; marks: CODE_BEGINS or 0. Frames passed
 * before code_walk_look() are followed by the first code_walk_follow(). */
void code_walk_hand_on(struct code_walk *walk, uint64_t target, const struct x86_frame *frame,
		       uint8_t marks);
/* Scans all possible calls for what code_walk_follow() needs. To be called once all starts are
 * known. */
void code_walk_look(struct code_walk *walk);
/* Follows all offsets that have received a frame. */
void code_walk_follow(struct code_walk *walk);

/* Returns false when the bytes are no instruction, when they are a trap used as padding, or when a
 * function is known to begin inside them. */
bool code_walk_decode(const struct code_walk *walk, size_t at,
		      struct x86_instruction *ret_instruction);
/* Returns the end of the padding at an offset, at most `limit` bytes after it. */
size_t code_walk_padding_end(const struct code_walk *walk, size_t at, size_t limit);
bool code_walk_is_aligned(const struct code_walk *walk, size_t at);

#endif
