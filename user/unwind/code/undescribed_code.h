/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind rows for code without call frame information, from its instructions: hand-written assembly
 * in video codecs and linear algebra, in which whole programs spend their time, and all of musl,
 * busybox and Free Pascal's output.
 *
 * code_walk.h follows the code as it executes, from function starts known by symbols, calls and
 * pointers, and passes the stack pointer's position along branches. Unreachable code gets a guessed
 * frame, in order of certainty: code after a function's end that looks like a function, then
 * targets of jump tables, then the rest. A guess is dropped when the code's return contradicts it.
 * Code without a result gets no row, and the unwind step uses frame pointers. (The idea is that of
 * Bastian, Kell and Zappa Nardelli, "Reliable and Fast DWARF-Based Stack Unwinding", 2019.)
 *
 * x86-64 only. Code that keeps the caller's frame pointer is left alone (generated code that a
 * run-time embeds, whose pieces need not begin with a prologue). Bounds on hostile files: work is
 * linear in the bytes of a gap, memory in those of its pieces, of at most
 * UNDESCRIBED_CODE_PIECE_BYTES: three bytes for each, up to eleven in hostile code.
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

/* State for the analysis of one file; NULL: out of memory. One thread at a time. */
struct undescribed_code *undescribed_code_new(void);
void undescribed_code_free(struct undescribed_code *work);

/* Totals of all runs so far. */
struct undescribed_counts {
	size_t functions;
	/* functions that access memory below a frame pointer they have not set up */
	size_t borrowed_frames;
	size_t known_bytes; /* bytes of code with a known frame */
	/* bytes of these at which the frame pointer chain leads to the caller */
	size_t frame_pointer_bytes;
};
struct undescribed_counts undescribed_code_counts(const struct undescribed_code *work);

/* Known function starts: ascending offsets without duplicates; borrowed until the state is
 * freed. */
void undescribed_code_set_starts(struct undescribed_code *work, const uint32_t *starts,
				 size_t count);

/* Number of functions in a piece of code that set up a frame pointer at their beginning as
 * compilers do. */
size_t undescribed_code_frame_pointers(const uint8_t *code, size_t size);

struct code_piece {
	const uint8_t *bytes;
	size_t size;
	uint32_t offset; /* offset of its first byte */
	uint64_t entry;	 /* offset of the program's entry point, which has no caller */
	bool is_last;
};

/*
 * Calls row, which may be NULL, for each change of the rule in a piece of code, first at its start.
 * Returns the bytes done, at least half of the piece: the last piece is always done completely;
 * another one may stop before its last function if that begins in the second half, since it may
 * continue in the next piece. Returns 0 when out of memory.
 */
size_t undescribed_code_run(struct undescribed_code *work, const struct code_piece *piece,
			    cfi_row_fn row, void *context);

#endif
