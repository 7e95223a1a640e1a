// SPDX-License-Identifier: BSD-2-Clause
/*
 * Feeds the analysis of code without call frame information with any bytes. The first byte of an
 * input says where the code lies, whether more follows, whether the program starts in it, and how
 * large the pieces of the second run are. In the third, functions are known to begin behind each
 * NOP.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/code/undescribed_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OFFSET_BITS = 15, IS_LAST = 16, HAS_ENTRY = 32, SMALL_PIECES = 64, LATE_OFFSET = 128 };

#define MAX_CFA_OFFSET (2 << 20)

struct rows {
	uint32_t start, size; /* of the code */
	uint32_t last;	      /* offset of the row given last */
	size_t count;
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_rule(const struct pkbpf_unwind_rule *rule)
{
	switch (rule->cfa) {
	case PKBPF_CFA_NONE:
	case PKBPF_CFA_END:
		return;
	case PKBPF_CFA_REGISTER:
		check(rule->aux < 16);
		break;
	case PKBPF_CFA_SP:
	case PKBPF_CFA_FP:
	case PKBPF_CFA_SP_DEREF:
	case PKBPF_CFA_FP_DEREF:
		break;
	default:
		abort();
	}
	check(rule->cfa_offset >= -MAX_CFA_OFFSET && rule->cfa_offset <= MAX_CFA_OFFSET);
	check(rule->ra == PKBPF_RA_CFA && rule->ra_offset == -8);
}

static void take_row(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct rows *rows = context;

	check(offset - rows->start < rows->size);
	check(rows->count ? offset > rows->last : offset == rows->start);
	check_rule(rule);
	rows->last = offset;
	rows->count++;
}

static size_t run(struct undescribed_code *work, const uint8_t *code, size_t size, bool is_last,
		  uint32_t offset, uint64_t entry)
{
	struct rows rows = {.start = offset, .size = (uint32_t)size};
	size_t expected = undescribed_code_run(
		work, &(struct code_piece){code, size, offset, entry, is_last}, NULL, NULL);
	size_t done = undescribed_code_run(
		work, &(struct code_piece){code, size, offset, entry, is_last}, take_row, &rows);

	check(done >= 1 && done <= size);
	check(!is_last || done == size);
	/* What is counted without rows is decided over the same pieces. */
	check(done == expected);
	check(rows.count > 0 && rows.last - offset < done);
	return done;
}

/* An exactly sized copy, so that a read behind the piece is seen. */
static size_t run_copy(struct undescribed_code *work, const uint8_t *code, size_t size,
		       bool is_last, uint32_t offset, uint64_t entry)
{
	uint8_t *copy = malloc(size);
	size_t done = size;

	if (copy) {
		memcpy(copy, code, size);
		done = run(work, copy, size, is_last, offset, entry);
		check(undescribed_code_frame_pointers(copy, size) <= size / 4);
	}
	free(copy);
	return done;
}

static void run_pieces(struct undescribed_code *work, const uint8_t *code, size_t size,
		       size_t piece_size, uint32_t offset, uint64_t entry)
{
	for (size_t at = 0, done; at < size; at += done) {
		size_t piece = size - at < piece_size ? size - at : piece_size;

		done = run_copy(work, code + at, piece, at + piece == size, offset + (uint32_t)at,
				entry);
		check(done > 0);
	}
}

struct known_starts {
	const uint32_t *next, *end;
	struct pkbpf_unwind_rule rule; /* of the row given last */
};

/* What begins a function knows nothing but its return address, or is no code. */
static void check_starts_before(struct known_starts *starts, uint32_t offset)
{
	for (; starts->next < starts->end && *starts->next < offset; starts->next++)
		check(starts->rule.cfa == PKBPF_CFA_NONE ||
		      (starts->rule.cfa == PKBPF_CFA_SP && starts->rule.cfa_offset == 8));
}

static void take_row_between_starts(void *context, uint32_t offset,
				    const struct pkbpf_unwind_rule *rule)
{
	struct known_starts *starts = context;

	check_starts_before(starts, offset);
	starts->rule = *rule;
}

static void run_with_starts(struct undescribed_code *work, const uint8_t *code, size_t size,
			    uint32_t offset)
{
	uint32_t *offsets = malloc(size * sizeof(*offsets));
	struct known_starts starts = {.next = offsets};
	size_t count = 0, done;

	if (!offsets)
		return;
	for (size_t i = 1; i < size; i++)
		if (code[i - 1] == 0x90)
			offsets[count++] = offset + (uint32_t)i;
	starts.end = offsets + count;
	undescribed_code_set_starts(work, offsets, count);
	done = undescribed_code_run(work,
				    &(struct code_piece){code, size, offset, UINT64_MAX, false},
				    take_row_between_starts, &starts);
	check_starts_before(&starts, offset + (uint32_t)done);
	undescribed_code_set_starts(work, NULL, 0);
	free(offsets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct undescribed_code *work;
	struct undescribed_counts counts;
	uint64_t entry = UINT64_MAX;
	uint32_t offset;

	/* Far below a piece's limit: long inputs are slow by small pieces. */
	if (size < 2 || size > 16384)
		return 0;
	work = undescribed_code_new();
	if (!work)
		return 0;
	offset = data[0] & OFFSET_BITS;
	if (data[0] & LATE_OFFSET)
		offset += 0xfff00000U;
	if (data[0] & HAS_ENTRY)
		entry = (uint64_t)offset + (size - 1) / 2;
	run_copy(work, data + 1, size - 1, data[0] & IS_LAST, offset, entry);
	run_pieces(work, data + 1, size - 1, data[0] & SMALL_PIECES ? 61 : 256, offset, entry);
	run_with_starts(work, data + 1, size - 1, offset);
	counts = undescribed_code_counts(work);
	check(counts.borrowed_frames <= counts.functions);
	undescribed_code_free(work);
	return 0;
}
