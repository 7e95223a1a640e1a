// SPDX-License-Identifier: BSD-2-Clause
/* Finds the gaps between executable segments. */
#include "unwind/text_layout.h"

#include <stdlib.h>

#include <pkbpf/unwind.h>

/* Smaller gaps stay: as pages without rows they cost 2 KiB. */
#define SMALL_GAP_BYTES (1U << 20)
/* Table offsets have 32 bits. */
#define MAX_SPAN_BYTES (UINT64_C(1) << 32)

static int by_start(const void *a, const void *b)
{
	const struct text_piece *one = a, *other = b;

	return one->start < other->start ? -1 : one->start > other->start;
}

/* Joins pieces that overlap or are close together. */
static void join(struct text_layout *layout)
{
	size_t last = 0;

	for (size_t i = 1; i < layout->count; i++) {
		const struct text_piece *piece = &layout->pieces[i];

		if (piece->start > layout->pieces[last].end &&
		    piece->start - layout->pieces[last].end > SMALL_GAP_BYTES)
			layout->pieces[++last] = *piece;
		else if (piece->end > layout->pieces[last].end)
			layout->pieces[last].end = piece->end;
	}
	layout->count = last + 1;
}

void text_layout_read(const struct elf_segments *segments, struct text_layout *ret_layout)
{
	const uint64_t page = PKBPF_TEXT_PAGE_SIZE - 1;

	ret_layout->count = 0;
	ret_layout->size = 0;
	for (size_t i = 0; i < segments->count; i++) {
		const struct elf_segment *segment = &segments->items[i];

		if (!elf_segment_is_code(segment) || segment->file_size == 0)
			continue;
		if (ret_layout->count == TEXT_LAYOUT_MAX_PIECES ||
		    segment->address + segment->file_size > UINT64_MAX - page) {
			ret_layout->count = 0;
			return;
		}
		ret_layout->pieces[ret_layout->count++] = (struct text_piece){
			.start = segment->address & ~page,
			.end = (segment->address + segment->file_size + page) & ~page,
		};
	}
	if (!ret_layout->count)
		return;
	qsort(ret_layout->pieces, ret_layout->count, sizeof(*ret_layout->pieces), by_start);
	join(ret_layout);
	if (ret_layout->pieces[ret_layout->count - 1].end - ret_layout->pieces[0].start >=
	    MAX_SPAN_BYTES) {
		ret_layout->count = 0;
		return;
	}
	for (size_t i = 0; i < ret_layout->count; i++) {
		struct text_piece *piece = &ret_layout->pieces[i];

		piece->removed = piece->start - ret_layout->pieces[0].start - ret_layout->size;
		ret_layout->size += piece->end - piece->start;
	}
}

const struct text_piece *text_layout_find(const struct text_layout *layout, uint64_t address)
{
	for (size_t i = 0; i < layout->count; i++)
		if (address >= layout->pieces[i].start && address < layout->pieces[i].end)
			return &layout->pieces[i];
	return NULL;
}

uint64_t text_layout_removed(const struct text_layout *layout, uint64_t address)
{
	/* A mapping begins at a page, which may be larger than ours (64 KiB on arm64), and so
	 * before its piece. */
	for (size_t i = 0; i < layout->count; i++)
		if (address < layout->pieces[i].end)
			return layout->pieces[i].removed;
	return 0;
}
