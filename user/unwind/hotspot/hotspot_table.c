// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/hotspot/hotspot_table.h"

#include <stdlib.h>

#include "base/array.h"

struct hotspot_table {
	struct unwind_table *table;
	ARRAY_OF(uint32_t) rows;
	uint32_t opened; /* pages that have their first row */
	uint32_t outside, rule;
	uint64_t end; /* of the last blob */
	bool failed;
};

struct hotspot_table *hotspot_table_new(uint64_t text_start, uint32_t page_count, uint32_t rule)
{
	struct hotspot_table *work = calloc(1, sizeof(*work));

	if (!work)
		return NULL;
	work->table = calloc(1, sizeof(*work->table));
	if (work->table)
		work->table->pages =
			calloc(page_count ? page_count : 1, sizeof(*work->table->pages));
	if (!work->table || !work->table->pages) {
		unwind_table_free(work->table);
		free(work);
		return NULL;
	}
	work->table->text_start = work->end = text_start;
	work->table->page_count = page_count;
	work->outside = work->rule = rule;
	return work;
}

static void append(struct hotspot_table *work, uint32_t page, uint32_t offset, uint32_t rule)
{
	uint32_t *row = array_add(&work->rows);

	if (!row) {
		work->failed = true;
		return;
	}
	*row = PKBPF_ROW(offset, rule);
	if (!work->table->pages[page].count++)
		work->table->pages[page].first = (uint32_t)work->rows.count - 1;
}

/* Every page begins with a row. */
static void open_pages(struct hotspot_table *work, uint32_t end)
{
	while (work->opened < end && !work->failed) {
		append(work, work->opened, 0, work->rule);
		work->opened++;
	}
}

static void put(struct hotspot_table *work, uint64_t address, uint32_t rule)
{
	uint64_t offset = address - work->table->text_start;
	uint32_t page = (uint32_t)(offset >> PKBPF_TEXT_PAGE_SHIFT),
		 in_page = (uint32_t)offset & (PKBPF_TEXT_PAGE_SIZE - 1);

	if (rule == work->rule || work->failed ||
	    offset >> PKBPF_TEXT_PAGE_SHIFT >= work->table->page_count)
		return;
	open_pages(work, page + 1);
	work->rule = rule;
	if (work->failed)
		return;
	if (PKBPF_ROW_OFFSET(work->rows.items[work->rows.count - 1]) == in_page)
		work->rows.items[work->rows.count - 1] = PKBPF_ROW(in_page, rule);
	else
		append(work, page, in_page, rule);
}

void hotspot_table_add(struct hotspot_table *work, uint64_t start, uint64_t end,
		       const struct hotspot_row *rows, size_t count)
{
	if (start < work->end || end <= start)
		return;
	work->end = end;
	for (size_t i = 0; i < count && rows[i].offset < end - start; i++)
		put(work, start + rows[i].offset, rows[i].rule);
	put(work, end, work->outside);
}

struct unwind_table *hotspot_table_finish(struct hotspot_table *work)
{
	struct unwind_table *table = work->table;

	open_pages(work, table->page_count);
	table->rows = work->rows.items;
	table->row_count = (uint32_t)work->rows.count;
	if (work->failed) {
		unwind_table_free(table);
		table = NULL;
	}
	free(work);
	return table;
}
