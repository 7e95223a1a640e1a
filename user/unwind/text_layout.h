/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layout of a file's code when executable segments lie far apart: a small file may cover gigabytes
 * of addresses. Tables have no pages for the gaps. A table address is the address as linked minus
 * the gaps below it.
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
	size_t count;  /* 0 or 1: no gap is removed */
	uint64_t size; /* bytes of all pieces; they span less than 4 GiB */
};

/* The result depends on the executable segments only. */
void text_layout_read(const struct elf_segments *segments, struct text_layout *ret_layout);
/* Returns the piece that holds an address as linked; NULL: none. */
const struct text_piece *text_layout_find(const struct text_layout *layout, uint64_t address);
/* Returns the bytes to subtract from an address as linked; 0 outside all pieces. */
uint64_t text_layout_removed(const struct text_layout *layout, uint64_t address);

#endif
