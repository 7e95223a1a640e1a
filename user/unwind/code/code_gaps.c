// SPDX-License-Identifier: BSD-2-Clause
/* Finds undescribed code, and decides whether rows are derived from its instructions. */
#include "unwind/code/code_gaps.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/elf_program.h"
#include "unwind/code/function_starts.h"
#include "unwind/code/undescribed_code.h"

/*
 * Code that sets up a frame pointer once per this many bytes keeps it everywhere, so frame pointers
 * unwind it already. That holds for programs compiled with frame pointers instead of tables
 * (Chromium). It also holds for code that a run-time embeds and that may run in another function's
 * frame (V8): it need not begin with a prologue. Hand-written assembly may also set up a frame
 * pointer often, but it is smaller and hardly ever uses another function's frame pointer.
 *
 * Where RBP is a general register, a function may still receive an argument in it, but few do: 3 %
 * of assembly functions read memory relative to it. Compilers that keep a stack of their own behind
 * it do so in 14 % to 38 % of functions (GHC, whose functions have no frame on the thread's stack).
 * Their return addresses are not on the thread's stack, so rows would lead to a wrong caller.
 */
#define BYTES_PER_FRAME_POINTER		4096
#define MAX_ASSEMBLY_BYTES		(1U << 20)
#define FUNCTIONS_PER_BORROWED_FRAME	50
#define SAMPLE_BYTES			(32U << 10)
#define NAMED_BYTES			256U
#define FUNCTIONS_PER_USE_OF_A_REGISTER 10

struct code_range {
	uint64_t start, end; /* offsets from text_start */
};

struct code_gaps {
	const struct elf_file *file;
	uint64_t text_start, text_size, entry;
	ARRAY_OF(struct code_range) ranges; /* executable ranges; ordered, without overlap */
	size_t next_range;
	struct undescribed_code *work;
	struct function_starts starts;
	bool has_starts; /* the starts have been read */
	ARRAY_OF(uint8_t) piece;
	bool postpone;
	uint64_t looked_at;  /* bytes, including postponed ones */
	uint64_t looked_for; /* bytes searched for frame pointers */
	unsigned int gaps_with_frames, gaps_with_other_frames;
	struct code_gaps_stats stats;
};

static int compare_ranges(const void *left, const void *right)
{
	const struct code_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static bool add_range(struct code_gaps *gaps, uint64_t address, uint64_t size)
{
	uint64_t start = address - gaps->text_start;
	struct code_range *range;

	if (start >= gaps->text_size || !size)
		return true;
	range = array_add(&gaps->ranges);
	if (range)
		*range = (struct code_range){
			start, size < gaps->text_size - start ? start + size : gaps->text_size};
	return range;
}

/* Executable segments hold constants, too. Sections, where a file has them, tell code from
 * constants. */
static bool find_code(struct code_gaps *gaps)
{
	const struct elf_file *file = gaps->file;

	for (size_t i = 0; i < file->section_count; i++) {
		const struct elf_section *section = elf_file_section(file, i);

		if (section && section->flags & SHF_EXECINSTR && section->flags & SHF_ALLOC &&
		    !add_range(gaps, section->address, section->size))
			return false;
	}
	for (size_t i = 0; gaps->ranges.count == 0 && i < file->segments.count; i++) {
		const struct elf_segment *segment = &file->segments.items[i];

		if (elf_segment_is_code(segment) &&
		    !add_range(gaps, segment->address, segment->file_size))
			return false;
	}
	return true;
}

static void order_ranges(struct code_gaps *gaps)
{
	uint64_t end = 0;

	if (gaps->ranges.count)
		qsort(gaps->ranges.items, gaps->ranges.count, sizeof(*gaps->ranges.items),
		      compare_ranges);
	array_foreach(&gaps->ranges, range) {
		if (range->start < end)
			range->start = end;
		if (range->end < range->start)
			range->end = range->start;
		end = range->end;
	}
}

struct code_gaps *code_gaps_new(const struct elf_file *file, uint64_t text_start,
				uint64_t text_size, bool postpone)
{
	struct code_gaps *gaps;

	if (file->machine != EM_X86_64)
		return NULL;
	gaps = calloc(1, sizeof(*gaps));
	if (!gaps)
		return NULL;
	gaps->file = file;
	gaps->text_start = text_start;
	gaps->text_size = text_size;
	gaps->postpone = postpone;
	/* Linkers set e_entry of libraries to an address that is no entry point. */
	gaps->entry =
		elf_program_role(file) == ELF_ROLE_LIBRARY ? UINT64_MAX : file->entry - text_start;
	if (!find_code(gaps)) {
		code_gaps_free(gaps);
		return NULL;
	}
	order_ranges(gaps);
	return gaps;
}

void code_gaps_free(struct code_gaps *gaps)
{
	if (!gaps)
		return;
	array_free(&gaps->ranges);
	undescribed_code_free(gaps->work);
	array_free(&gaps->starts);
	array_free(&gaps->piece);
	free(gaps);
}

struct code_gaps_stats code_gaps_stats(const struct code_gaps *gaps)
{
	return gaps->stats;
}

/* Allocated on demand: most files have no gap. */
static bool prepare(struct code_gaps *gaps, uint64_t size)
{
	if (!gaps->work)
		gaps->work = undescribed_code_new();
	return gaps->work && array_reserve(&gaps->piece, size < UNDESCRIBED_CODE_PIECE_BYTES
								 ? size
								 : UNDESCRIBED_CODE_PIECE_BYTES);
}

/* Small gaps are code that is linked to every program; symbols add nothing there. */
static void use_symbols(struct code_gaps *gaps, uint64_t size)
{
	if (gaps->has_starts || size < NAMED_BYTES)
		return;
	function_starts_read(gaps->file, gaps->text_start, gaps->text_size, &gaps->starts);
	undescribed_code_set_starts(gaps->work, gaps->starts.items, gaps->starts.count);
	gaps->has_starts = true;
}

/* Reads the piece at an offset; returns 0 when it is unreadable. */
static size_t read_piece(struct code_gaps *gaps, uint64_t start, uint64_t end)
{
	size_t size = end - start < UNDESCRIBED_CODE_PIECE_BYTES ? end - start
								 : UNDESCRIBED_CODE_PIECE_BYTES;

	return elf_file_read_address(gaps->file, gaps->text_start + start, gaps->piece.items,
				     size) < 0
		       ? 0
		       : size;
}

static size_t count_frame_pointers(struct code_gaps *gaps, uint64_t start, uint64_t end)
{
	size_t count = 0, size;

	for (uint64_t at = start; at < end; at += size) {
		size = read_piece(gaps, at, end);
		if (!size)
			break;
		count += undescribed_code_frame_pointers(gaps->piece.items, size);
	}
	return count;
}

size_t code_gaps_frame_pointers(struct code_gaps *gaps, uint32_t start, uint32_t end)
{
	uint64_t size = end - start;

	if (size > CODE_GAPS_MAX_BYTES - gaps->looked_for || !prepare(gaps, size))
		return 0;
	gaps->looked_for += size;
	return count_frame_pointers(gaps, start, end);
}

static uint64_t run_pieces(struct code_gaps *gaps, uint64_t start, uint64_t end, cfi_row_fn row,
			   void *context)
{
	while (start < end) {
		size_t size = read_piece(gaps, start, end), done = 0;

		if (size)
			done = undescribed_code_run(gaps->work,
						    &(struct code_piece){
							    .bytes = gaps->piece.items,
							    .size = size,
							    .offset = (uint32_t)start,
							    .entry = gaps->entry,
							    .is_last = start + size == end,
						    },
						    row, context);
		if (!done)
			break;
		start += done;
	}
	return start;
}

/* True when more than one in this many functions reads memory relative to a frame pointer that it
 * has not set up. */
static bool borrows_frames(struct code_gaps *gaps, uint64_t start, uint64_t end, size_t functions)
{
	struct undescribed_counts before = undescribed_code_counts(gaps->work), after;

	run_pieces(gaps, start, end, NULL, NULL);
	after = undescribed_code_counts(gaps->work);
	return after.borrowed_frames - before.borrowed_frames >
	       (after.functions - before.functions) / functions;
}

/* True when rows derived from the stack pointer would mislead. Gaps of one file are alike, so
 * samples from several gaps say more than one gap. */
static bool has_other_frames(struct code_gaps *gaps, uint64_t start, uint64_t end, bool keeps)
{
	if (keeps)
		return borrows_frames(gaps, start, end, FUNCTIONS_PER_BORROWED_FRAME);
	if (end - start <= SAMPLE_BYTES)
		return false;
	if (borrows_frames(gaps, start, start + SAMPLE_BYTES, FUNCTIONS_PER_USE_OF_A_REGISTER))
		gaps->gaps_with_other_frames++;
	else
		gaps->gaps_with_frames++;
	return gaps->gaps_with_other_frames > gaps->gaps_with_frames;
}

/* Small gaps are padding between functions, except at the end of a range: .fini has 9 bytes in
 * nearly every file. */
static bool is_space(const struct code_gaps *gaps, uint64_t start, uint64_t end)
{
	return end - start < CODE_GAPS_MIN_BYTES && end != gaps->ranges.items[gaps->next_range].end;
}

static void run_range(struct code_gaps *gaps, uint64_t start, uint64_t end, bool is_text,
		      cfi_row_fn row, void *context)
{
	static const struct pkbpf_unwind_rule none = {.cfa = PKBPF_CFA_NONE},
					      pending = {.cfa = PKBPF_CFA_PENDING};
	uint64_t size = end - start;
	bool keeps;

	if (size > CODE_GAPS_MAX_BYTES - gaps->looked_at)
		gaps->stats.left_out += size;
	if (is_space(gaps, start, end) || size > CODE_GAPS_MAX_BYTES - gaps->looked_at ||
	    !prepare(gaps, size))
		return;
	gaps->looked_at += size;
	keeps = is_text || count_frame_pointers(gaps, start, end) > size / BYTES_PER_FRAME_POINTER;
	if (keeps && !is_text && size > MAX_ASSEMBLY_BYTES)
		return;
	if (gaps->postpone && gaps->looked_at > CODE_GAPS_PROMPT_BYTES) {
		gaps->stats.postponed += size;
		row(context, (uint32_t)start, &pending);
	} else {
		use_symbols(gaps, size);
		if (!is_text && has_other_frames(gaps, start, end, keeps))
			return;
		gaps->stats.followed += size;
		end = run_pieces(gaps, start, end, row, context);
	}
	row(context, (uint32_t)end, &none);
}

static void run_ranges(struct code_gaps *gaps, uint32_t start, uint32_t end, bool is_text,
		       cfi_row_fn row, void *context)
{
	while (gaps->next_range < gaps->ranges.count) {
		const struct code_range *range = &gaps->ranges.items[gaps->next_range];
		uint64_t from = range->start > start ? range->start : start;
		uint64_t to = range->end < end ? range->end : end;

		if (from < to)
			run_range(gaps, from, to, is_text, row, context);
		if (range->end >= end)
			return;
		gaps->next_range++;
	}
}

void code_gaps_run(struct code_gaps *gaps, uint32_t start, uint32_t end, cfi_row_fn row,
		   void *context)
{
	run_ranges(gaps, start, end, false, row, context);
}

void code_gaps_run_text(struct code_gaps *gaps, uint32_t start, uint32_t end, cfi_row_fn row,
			void *context)
{
	run_ranges(gaps, start, end, true, row, context);
}
