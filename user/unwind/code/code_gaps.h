/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind rows for the gaps of a file: code without call frame information. Reads each gap piece by
 * piece (undescribed_code.h).
 *
 * Bounds on hostile files: at most CODE_GAPS_MAX_BYTES are read per file, each byte twice. Sections
 * only narrow down where code is.
 *
 * Reading takes 10 ns per byte. That is much for a library of codecs that a program maps and may
 * never call. So bytes beyond CODE_GAPS_PROMPT_BYTES can be postponed until an unwind needs them.
 */
#ifndef PKBPF_UNWIND_CODE_CODE_GAPS_H
#define PKBPF_UNWIND_CODE_CODE_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/cfi/cfi_program.h"
#include "elf/elf_file.h"

#define CODE_GAPS_MAX_BYTES    (32U << 20)
#define CODE_GAPS_PROMPT_BYTES (256U << 10)
/* Smaller gaps are padding between functions, unless a section ends with them. */
#define CODE_GAPS_MIN_BYTES 16U

struct code_gaps;

/* Bytes of code that no FDE covers. */
struct code_gaps_stats {
	uint64_t followed;  /* read, rows made */
	uint64_t postponed; /* read later; their rows say PKBPF_CFA_PENDING */
	uint64_t left_out;  /* beyond CODE_GAPS_MAX_BYTES */
};

/* For a file whose offsets count from text_start and are below text_size. The file is borrowed.
 * postpone: large gaps are read later. Returns NULL when out of memory, or when the architecture is
 * unsupported (arm64). */
struct code_gaps *code_gaps_new(const struct elf_file *file, uint64_t text_start,
				uint64_t text_size, bool postpone);
void code_gaps_free(struct code_gaps *gaps);

/* Calls row for each change of the rule between two offsets; the ranges ascend from call to call.
 * Unknown code gets PKBPF_CFA_NONE. Unreadable code gets no rows; there is no failure. */
void code_gaps_run(struct code_gaps *gaps, uint32_t start, uint32_t end, cfi_row_fn row,
		   void *context);
/* The same for the text of a program whose functions keep frame pointers except at their beginning
 * and end, whatever its size. */
void code_gaps_run_text(struct code_gaps *gaps, uint32_t start, uint32_t end, cfi_row_fn row,
			void *context);
/* Number of functions between two offsets that set up a frame pointer as compilers do; 0, too,
 * where the code is unreadable or the byte budget is used up. */
size_t code_gaps_frame_pointers(struct code_gaps *gaps, uint32_t start, uint32_t end);
/* Totals of all runs so far. */
struct code_gaps_stats code_gaps_stats(const struct code_gaps *gaps);

#endif
