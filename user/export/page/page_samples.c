// SPDX-License-Identifier: BSD-2-Clause
/* Gathers the single CPU samples of a trace, for the heat map. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "export/page/page_data_private.h"

/* What a row of the page is of, for samples as for rows of the profile. */
static uint64_t owner_key(enum rows_by by, uint32_t process, uint32_t comm, uint32_t tid,
			  uint32_t stack)
{
	const uint32_t of_thread[] = {process, comm,
				      by == ROWS_BY_THREAD ? tid : PROFILE_NO_THREAD};
	/* Which region it was in, its stack tells. */
	const uint32_t of_region[ARRAY_SIZE(of_thread)] = {stack};
	const uint32_t *words = by == ROWS_BY_REGION ? of_region : of_thread;

	return hash_bytes(words, sizeof(of_thread), 0);
}

/* owner_key() -> index in report.rows. */
static bool map_owners(const struct page_data *data, struct hash_map *ret_rows)
{
	size_t count;
	const struct profile_row *rows = profile_rows(data->rows->profile, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t number = data->rows->places[i].number;
		uint64_t key = owner_key(data->rows->by, rows[i].process, rows[i].comm, rows[i].tid,
					 rows[i].stack);

		if (number < data->number_count &&
		    !hash_map_put(ret_rows, key, data->index_of_number[number]))
			return false;
	}
	return true;
}

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
	_cleanup_(hash_map_done) struct hash_map owners = {0};

	if (!data->times || !moments->items.count)
		return true;
	if (!map_owners(data, &owners))
		return false;
	array_foreach(&moments->items, moment) {
		uint64_t cell = (moment->begin_ns - start_ns) / CELL_NS;
		const uint64_t *row =
			hash_map_find(&owners, owner_key(data->rows->by, moment->process,
							 moment->comm, moment->tid, moment->stack));
		struct page_cell *item;

		if (moment->kind != PKBPF_PROFILE_CPU || moment->begin_ns < start_ns ||
		    cell > UINT32_MAX)
			continue;
		item = array_add(&data->cells);
		if (!item)
			return false;
		*item = (struct page_cell){(uint32_t)cell, row ? (uint32_t)*row : NO_ROW,
					   moment->weight};
	}
	join_cells(data);
	return true;
}
