/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a file has its code when executable segments lie far apart: a small file may cover
 * gigabytes of addresses. Tables have no pages for what lies between; an address of a table is one
 * as linked less the gaps below it.
 */
#ifndef PKBPF_UNWIND_TEXT_LAYOUT_H
#define PKBPF_UNWIND_TEXT_LAYOUT_H

#include "elf/elf_segment.h"

#define TEXT_LAYOUT_MAX_PIECES 64

struct text_piece {
	uint64_t start, end; /* whole pages, as linked; end exclusive */
	uint64_t removed;    /* bytes of gaps below it */
};

struct text_layout {
	struct text_piece pieces[TEXT_LAYOUT_MAX_PIECES];
	size_t count;  /* 0 or 1: nothing is removed */
	uint64_t size; /* bytes of all pieces; they span less than 4 GiB */
};

/* The same for the same executable segments, whatever else there is. */
void text_layout_read(const struct elf_segments *segments, struct text_layout *ret_layout);
/* The piece that holds an address as linked; NULL: none. */
const struct text_piece *text_layout_find(const struct text_layout *layout, uint64_t address);
/* What is to be subtracted from an address as linked; 0 where no piece is. */
uint64_t text_layout_removed(const struct text_layout *layout, uint64_t address);

#endif
