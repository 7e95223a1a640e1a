// SPDX-License-Identifier: BSD-2-Clause
/* Gathers the single CPU samples of a trace, for the heat map. */
#include <stdlib.h>

#include "export/page/page_data_private.h"
#include "export/page/page_owners.h"

static int compare_cells(const void *left, const void *right)
{
	const struct page_cell *a = left, *b = right;

	if (a->cell != b->cell)
		return a->cell < b->cell ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static void join_cells(struct page_data *data)
{
	size_t kept = 0;

	if (data->cells.count)
		qsort(data->cells.items, data->cells.count, sizeof(*data->cells.items),
		      compare_cells);
	array_foreach(&data->cells, cell) {
		struct page_cell *last = kept ? &data->cells.items[kept - 1] : NULL;

		if (last && last->cell == cell->cell && last->row == cell->row)
			last->weight += cell->weight;
		else
			data->cells.items[kept++] = *cell;
	}
	data->cells.count = kept;
}

bool page_samples_add(struct page_data *data)
{
	const struct moment_list *moments = profile_moments(data->rows->profile);
	uint64_t start_ns = profile_info_read(data->rows->profile)->start_ns;

	if (!data->times || !moments->items.count)
		return true;
	array_foreach(&moments->items, moment) {
		uint64_t cell = (moment->begin_ns - start_ns) / CELL_NS;
		uint32_t row = page_owners_find(&data->owners, data->rows->by, moment);
		struct page_cell *item;

		if (moment->kind != PKBPF_PROFILE_CPU || moment->begin_ns < start_ns ||
		    cell > UINT32_MAX)
			continue;
		item = array_add(&data->cells);
		if (!item)
			return false;
		*item = (struct page_cell){(uint32_t)cell, row, moment->weight};
	}
	join_cells(data);
	return true;
}
