/* SPDX-License-Identifier: BSD-2-Clause */
/* Packs the rows of blobs into the table of a code heap. */
#ifndef PKBPF_UNWIND_HOTSPOT_HOTSPOT_TABLE_H
#define PKBPF_UNWIND_HOTSPOT_HOTSPOT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/table/unwind_table.h"

struct hotspot_row {
	uint32_t offset; /* from the start of its blob */
	uint32_t rule;
};

struct hotspot_table;

/* Begins a table of pages from text_start on, all with one rule. NULL: out of memory. */
struct hotspot_table *hotspot_table_new(uint64_t text_start, uint32_t page_count, uint32_t rule);
/* Rows of a blob, whose offsets ascend from 0; blobs ascend and do not overlap. Behind it the first
 * rule holds again. */
void hotspot_table_add(struct hotspot_table *table, uint64_t start, uint64_t end,
		       const struct hotspot_row *rows, size_t count);
/* Frees it, and returns the finished table; NULL: out of memory. */
struct unwind_table *hotspot_table_finish(struct hotspot_table *table);

#endif
