/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of a file that no call frame information describes, read piece by piece for
 * undescribed_code.h.
 *
 * Bounds on hostile files: CODE_GAPS_MAX_BYTES are looked at per file, each twice; sections only
 * narrow down where code is.
 *
 * Reading takes 10 ns per byte, which is much for a library of codecs that a program maps and may
 * never call: what is beyond CODE_GAPS_PROMPT_BYTES can be left until a walk comes to it.
 */
#ifndef PKBPF_UNWIND_CODE_CODE_GAPS_H
#define PKBPF_UNWIND_CODE_CODE_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/cfi/cfi_program.h"
#include "elf/elf_file.h"

#define CODE_GAPS_MAX_BYTES    (32U << 20)
#define CODE_GAPS_PROMPT_BYTES (256U << 10)
/* What is smaller is space between functions, unless a section ends with it. */
#define CODE_GAPS_MIN_BYTES 16U

struct code_gaps;

/* Bytes of code that no function covers. */
struct code_gaps_stats {
	uint64_t followed;  /* read, rows made */
	uint64_t postponed; /* rows say so: PKBPF_CFA_PENDING */
	uint64_t left_out;  /* beyond CODE_GAPS_MAX_BYTES */
};

/* For a file whose offsets count from text_start and stay below text_size. postpone: whether large
 * gaps are left for later. The file is borrowed. NULL: out of memory, or code that is not
 * understood (arm64). */
struct code_gaps *code_gaps_new(const struct elf_file *file, uint64_t text_start,
				uint64_t text_size, bool postpone);
void code_gaps_free(struct code_gaps *gaps);

/* Calls row for each change of the rule between two offsets, which ascend from call to call; where
 * nothing is known, that of no rule. What cannot be read has no rows: there is no failure. */
void code_gaps_run(struct code_gaps *gaps, uint32_t start, uint32_t end, cfi_row_fn row,
		   void *context);
/* The same for the text of a program whose functions keep frame pointers but where they begin and
 * end, however large it is. */
void code_gaps_run_text(struct code_gaps *gaps, uint32_t start, uint32_t end, cfi_row_fn row,
			void *context);
/* How many functions set up a frame pointer between two offsets, as compilers do it; 0 as well
 * where the code cannot be read, or nothing may be read any more. */
size_t code_gaps_frame_pointers(struct code_gaps *gaps, uint32_t start, uint32_t end);
/* Of all runs so far. */
struct code_gaps_stats code_gaps_stats(const struct code_gaps *gaps);

#endif
