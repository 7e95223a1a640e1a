/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The packed unwind table of one file: rows of 4 bytes grouped by 4 KiB page of text.
 *
 * Memory: at most UNWIND_TABLE_MAX_ROWS rows and UNWIND_TABLE_MAX_PAGES pages; before these caps
 * rows <= bytes of unwind sections + 2 per function + 1 per page, so a small file cannot make a
 * large table.
 */
#ifndef PKBPF_UNWIND_TABLE_UNWIND_TABLE_H
#define PKBPF_UNWIND_TABLE_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "pkbpf/unwind.h"
#include "unwind/code/code_gaps.h"
#include "elf/elf_program.h"
#include "unwind/table/rule_set.h"
#include "unwind/text_layout.h"

#define UNWIND_TABLE_MAX_ROWS  (64U << 20) /* 256 MiB */
#define UNWIND_TABLE_MAX_PAGES (1U << 20)  /* 4 GiB of text */

/* What the builder saw, for reports. */
struct unwind_table_stats {
	uint64_t function_count;    /* FDEs used */
	uint64_t raw_row_count;	    /* rows before repeats were dropped */
	uint64_t unsupported_count; /* raw rows a rule cannot hold */
	uint64_t dropped_count; /* FDEs outside executable segments, malformed or beyond a cap */
	uint64_t special_count; /* pieces of code recognised by their bytes or symbols */
	struct code_gaps_stats gaps; /* bytes that no FDE covers */
};

struct unwind_table {
	uint64_t text_start;	   /* address of pages[0], page-aligned */
	struct text_layout layout; /* from addresses as linked to the table's */
	/* first counts from rows[0] of this table; count 0: no rows */
	struct pkbpf_unwind_page *pages;
	uint32_t *rows; /* PKBPF_ROW() */
	uint32_t page_count;
	uint32_t row_count;
	struct unwind_table_stats stats;
};

/* -ENODATA: the file has neither unwind information nor code that can be followed without (use
 * frame pointers); -EFBIG: beyond a cap; -ENOMEM. postpone: large gaps between functions are not
 * read yet; where stats say that there are some, another build without it gives the whole table.
 * Runs on any one thread; rules is changed, its owner guards it. */
int unwind_table_build(const struct elf_file *image, bool postpone, struct rule_set *rules,
		       struct unwind_table **ret_table, struct error *error);
void unwind_table_free(struct unwind_table *table);
/* Bytes of rows and pages. */
size_t unwind_table_size_bytes(const struct unwind_table *table);

/* Rule id that covers an ELF address, found as the frame step finds it; RULE_ID_NONE outside. */
uint32_t unwind_table_lookup_id(const struct unwind_table *table, uint64_t elf_address);
const struct pkbpf_unwind_rule *unwind_table_lookup(const struct unwind_table *table,
						    const struct rule_set *rules,
						    uint64_t elf_address);

#endif
