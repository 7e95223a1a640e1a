/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The packed unwind table of one file: rows of 4 bytes grouped by 4 KiB page of text.
 *
 * Memory: at most UNWIND_TABLE_MAX_ROWS rows and UNWIND_TABLE_MAX_PAGES pages. Before these caps,
 * rows <= bytes of unwind sections + 2 per function + 1 per page, so a small file cannot cause a
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

/* Statistics of the build, for reports. */
struct unwind_table_stats {
	uint64_t function_count;    /* FDEs used */
	uint64_t raw_row_count;	    /* rows before removal of repeats */
	uint64_t unsupported_count; /* raw rows that no rule can hold */
	uint64_t dropped_count; /* FDEs outside executable segments, malformed or beyond a cap */
	uint64_t special_count; /* code recognized by its bytes or symbols */
	struct code_gaps_stats gaps; /* bytes that no FDE covers */
};

struct unwind_table {
	uint64_t text_start;	   /* address of pages[0], page-aligned */
	struct text_layout layout; /* from addresses as linked to table addresses */
	/* a page's first row is an index into rows; count 0: no rows */
	struct pkbpf_unwind_page *pages;
	uint32_t *rows; /* PKBPF_ROW() */
	uint32_t page_count;
	uint32_t row_count;
	struct unwind_table_stats stats;
};

/*
 * Builds the table of a file. postpone: large gaps between functions are not read; if the stats
 * report postponed bytes, another build without it gives the complete table. Runs on any one
 * thread; the owner of rules must guard them, since they are changed. -ENODATA: neither unwind
 * information nor code that can be analyzed without it (use frame pointers); -EFBIG: beyond a cap;
 * -ENOMEM.
 */
int unwind_table_build(const struct elf_file *image, bool postpone, struct rule_set *rules,
		       struct unwind_table **ret_table, struct error *error);
void unwind_table_free(struct unwind_table *table);
/* Bytes of rows and pages. */
size_t unwind_table_size_bytes(const struct unwind_table *table);

/* Rule id for an ELF address, found like the unwind step does; RULE_ID_NONE outside. */
uint32_t unwind_table_lookup_id(const struct unwind_table *table, uint64_t elf_address);
const struct pkbpf_unwind_rule *unwind_table_lookup(const struct unwind_table *table,
						    const struct rule_set *rules,
						    uint64_t elf_address);

#endif
