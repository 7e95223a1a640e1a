/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind rows for code that no call frame information describes, from its instructions:
 * hand-written assembly, as in video codecs and linear algebra, in which whole programs spend their
 * time, and all of musl, busybox and what Free Pascal makes.
 *
 * The code is followed as it is executed (code_walk.h) from where symbols, calls and pointers say
 * that functions begin, with the stack pointer that branches hand on to their targets. What no code
 * leads to is guessed, from the surest to the most doubtful: what looks like a function behind the
 * end of another one, then what only a table of jumps leads to, then the rest; a frame that the
 * code's return does not fit is not believed. Where nothing is found there is no row, and the step
 * goes by frame pointers. (The idea is that of Bastian, Kell and Zappa Nardelli, "Reliable and Fast
 * DWARF-Based Stack Unwinding", 2019.)
 *
 * x86-64 only. Code by which the caller's frame pointer is kept (generated code that a run-time
 * embeds, whose pieces need not begin as functions do) is left alone. Bounds on hostile files: work
 * is linear in the bytes of a gap, memory in those of its pieces, which have at most
 * UNDESCRIBED_CODE_PIECE_BYTES: three bytes for each, in hostile code up to eleven.
 */
#ifndef PKBPF_UNWIND_CODE_UNDESCRIBED_CODE_H
#define PKBPF_UNWIND_CODE_UNDESCRIBED_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pkbpf/unwind.h"
#include "unwind/cfi/cfi_program.h"

#define UNDESCRIBED_CODE_PIECE_BYTES (4U << 20)

struct undescribed_code;

/* What the analysis of one file needs; NULL: out of memory. One thread at a time. */
struct undescribed_code *undescribed_code_new(void);
void undescribed_code_free(struct undescribed_code *work);

/* What all runs have seen. */
struct undescribed_counts {
	size_t functions;
	/* functions that use the frame pointer without having set it, to reach what lies below
	 * it */
	size_t borrowed_frames;
	size_t known_bytes; /* of code whose frame is known */
	/* of these where a chain of frame pointers leads to the caller */
	size_t frame_pointer_bytes;
};
struct undescribed_counts undescribed_code_counts(const struct undescribed_code *work);

/* Where functions are known to begin: ascending offsets, each once; borrowed until the work is
 * freed. */
void undescribed_code_set_starts(struct undescribed_code *work, const uint32_t *starts,
				 size_t count);

/* How many functions in a piece of code begin by setting up a frame pointer as compilers do. */
size_t undescribed_code_frame_pointers(const uint8_t *code, size_t size);

struct code_piece {
	const uint8_t *bytes;
	size_t size;
	uint32_t offset; /* of its first byte */
	uint64_t entry;	 /* the offset at which the program starts, where nothing called it */
	bool is_last;
};

/*
 * Calls row, which may be NULL, for each change of the rule in a piece of code, the first one at
 * its start. Returns how much of the piece is done, at least half: all where it is the last one,
 * else up to its last function, which may go on in the next piece, if that begins in the second
 * half; 0: out of memory.
 */
size_t undescribed_code_run(struct undescribed_code *work, const struct code_piece *piece,
			    cfi_row_fn row, void *context);

#endif
