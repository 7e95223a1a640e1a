// SPDX-License-Identifier: BSD-2-Clause
/* Tables placed in chunks keep their rows, page by page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/array.h"
#include "plain_memory.h"
#include "unwind/table/chunk_pool.h"

/* A table whose page i has counts[i % n] rows, all different. */
static struct unwind_table make_table(uint32_t pages, const uint16_t *counts, uint32_t n,
				      uint32_t seed)
{
	struct unwind_table table = {.page_count = pages};

	table.pages = calloc(pages, sizeof(*table.pages));
	assert_non_null(table.pages);
	for (uint32_t i = 0; i < pages; i++) {
		table.pages[i].count = counts[i % n];
		table.pages[i].first = table.row_count;
		table.row_count += counts[i % n];
	}
	table.rows = malloc((table.row_count + 1) * sizeof(*table.rows));
	assert_non_null(table.rows);
	for (uint32_t i = 0; i < table.row_count; i++)
		table.rows[i] = seed + i * 2654435761U;
	return table;
}

static void free_table(struct unwind_table *table)
{
	free(table->pages);
	free(table->rows);
}

static void check_placed(const struct chunk_pool *pool, const struct unwind_table *table,
			 const struct pkbpf_unwind_page *pages)
{
	for (uint32_t i = 0; i < table->page_count; i++) {
		const uint32_t *rows = chunk_pool_rows(pool, &pages[i]);

		assert_int_equal(pages[i].count, table->pages[i].count);
		if (!pages[i].count)
			continue;
		assert_int_equal(pages[i].first / PKBPF_CHUNK_ROWS,
				 (pages[i].first + pages[i].count - 1) / PKBPF_CHUNK_ROWS);
		assert_memory_equal(rows, &table->rows[table->pages[i].first],
				    pages[i].count * sizeof(*rows));
	}
}

static void a_table_larger_than_a_chunk_is_spread_over_several(void **state)
{
	static const uint16_t counts[] = {1000, 0, 37, 4096, 1, 0, 0, 512};
	struct unwind_table table = make_table(900, counts, ARRAY_SIZE(counts), 1);
	struct pkbpf_unwind_page pages[900];
	struct row_placement placement = {0};
	struct plain_memory plain;
	struct chunk_pool *pool;

	plain_memory_init(&plain, 1, 1);
	pool = chunk_pool_new(&plain.memory.chunks, 8);
	assert_int_equal(chunk_pool_place(pool, &table, pages, &placement), -EAGAIN);
	assert_int_equal(chunk_pool_grow(pool, 1), 0);
	assert_int_equal(chunk_pool_place(pool, &table, pages, &placement), -EAGAIN);
	assert_int_equal(placement.count, 0);
	assert_int_equal(chunk_pool_free_rows(pool), PKBPF_CHUNK_ROWS);
	assert_int_equal(chunk_pool_grow(pool, 3), 0);
	assert_int_equal(chunk_pool_place(pool, &table, pages, &placement), 0);
	assert_in_range(placement.count, 2, 4);
	check_placed(pool, &table, pages);
	assert_int_equal(chunk_pool_free_rows(pool), 4 * PKBPF_CHUNK_ROWS - table.row_count);
	chunk_pool_remove(pool, &placement);
	assert_int_equal(chunk_pool_free_rows(pool), 4 * PKBPF_CHUNK_ROWS);
	chunk_pool_free(pool);
	assert_int_equal(plain.destroyed, plain.created);
	plain_memory_done(&plain);
	free_table(&table);
}

static void tables_never_overlap(void **state)
{
	static const uint16_t counts[] = {130, 60, 0, 7};
	enum { TABLES = 60, PAGES = 200 };
	static struct pkbpf_unwind_page pages[TABLES][PAGES];
	struct row_placement placements[TABLES] = {0};
	struct unwind_table tables[TABLES];
	bool placed[TABLES] = {false};
	struct plain_memory plain;
	struct chunk_pool *pool;

	srand(3);
	plain_memory_init(&plain, 1, 1);
	pool = chunk_pool_new(&plain.memory.chunks, 2);
	assert_int_equal(chunk_pool_grow(pool, 2), 0);
	for (uint32_t i = 0; i < TABLES; i++)
		tables[i] = make_table(1 + (uint32_t)rand() % PAGES, counts,
				       1 + (uint32_t)rand() % 4, i << 20);
	for (int step = 0; step < 600; step++) {
		size_t i = (size_t)rand() % TABLES;

		if (placed[i]) {
			chunk_pool_remove(pool, &placements[i]);
			placed[i] = false;
		} else {
			placed[i] =
				chunk_pool_place(pool, &tables[i], pages[i], &placements[i]) == 0;
		}
		for (size_t k = 0; step % 20 == 0 && k < TABLES; k++) {
			if (placed[k])
				check_placed(pool, &tables[k], pages[k]);
		}
	}
	for (size_t i = 0; i < TABLES; i++) {
		if (placed[i])
			chunk_pool_remove(pool, &placements[i]);
		free_table(&tables[i]);
	}
	assert_int_equal(chunk_pool_free_rows(pool), 2 * PKBPF_CHUNK_ROWS);
	chunk_pool_free(pool);
	plain_memory_done(&plain);
}

/* What fits exactly leaves whole chunks for those that need one. */
static void the_smallest_room_that_fits_is_taken(void **state)
{
	enum { SMALL = 1000, FILLING = PKBPF_CHUNK_ROWS / 500 };
	static const uint16_t counts[] = {500}, all[] = {1000};
	struct unwind_table tables[] = {
		make_table(FILLING - 2, counts, 1, 1),
		make_table(1, all, 1, 2),
		make_table(FILLING, counts, 1, 3),
	};
	static struct pkbpf_unwind_page pages[3][FILLING];
	struct row_placement placements[3] = {0};
	struct plain_memory plain;
	struct chunk_pool *pool;
	uint32_t left;

	(void)state;
	plain_memory_init(&plain, 1, 1);
	pool = chunk_pool_new(&plain.memory.chunks, 2);
	assert_int_equal(chunk_pool_grow(pool, 2), 0);
	/* The first chunk is filled, the second nearly, and the first is empty again. */
	assert_int_equal(chunk_pool_place(pool, &tables[2], pages[2], &placements[2]), 0);
	assert_int_equal(chunk_pool_place(pool, &tables[0], pages[0], &placements[0]), 0);
	chunk_pool_remove(pool, &placements[2]);
	/* As many rows as the second chunk has left. */
	left = PKBPF_CHUNK_ROWS - tables[0].row_count;
	assert_in_range(left, SMALL, SMALL + 499);
	tables[1].pages[0].count = (uint16_t)left;
	tables[1].row_count = left;
	tables[1].rows = realloc(tables[1].rows, left * sizeof(*tables[1].rows));
	memset(tables[1].rows, 5, left * sizeof(*tables[1].rows));
	assert_int_equal(chunk_pool_place(pool, &tables[1], pages[1], &placements[1]), 0);
	assert_int_equal(chunk_pool_place(pool, &tables[2], pages[2], &placements[2]), 0);
	assert_int_equal(placements[2].count, 1);
	for (size_t i = 0; i < 3; i++) {
		chunk_pool_remove(pool, &placements[i]);
		free_table(&tables[i]);
	}
	chunk_pool_free(pool);
	plain_memory_done(&plain);
}

static void grows_up_to_its_cap_and_survives_refusal(void **state)
{
	struct plain_memory plain;
	struct chunk_pool *pool;

	plain_memory_init(&plain, 1, 1);
	pool = chunk_pool_new(&plain.memory.chunks, 3);
	plain.fail_with = ENOMEM;
	assert_int_equal(chunk_pool_grow(pool, 1), -ENOMEM);
	assert_int_equal(chunk_pool_count(pool), 0);
	plain.fail_with = 0;
	assert_int_equal(chunk_pool_grow(pool, 1), 0);
	assert_int_equal(chunk_pool_grow(pool, 100), 0);
	assert_int_equal(chunk_pool_count(pool), 3);
	assert_int_equal(chunk_pool_grow(pool, 1), -ENOSPC);
	chunk_pool_free(pool);
	chunk_pool_free(NULL);
	plain_memory_done(&plain);
}

static void an_empty_table_needs_no_room(void **state)
{
	static const uint16_t none[] = {0};
	struct unwind_table empty = {0}, bare = make_table(5, none, 1, 0);
	struct row_placement placement = {0};
	struct pkbpf_unwind_page pages[5];
	struct plain_memory plain;
	struct chunk_pool *pool;

	plain_memory_init(&plain, 1, 1);
	pool = chunk_pool_new(&plain.memory.chunks, 1);
	assert_int_equal(chunk_pool_place(pool, &empty, pages, &placement), 0);
	assert_int_equal(chunk_pool_grow(pool, 1), 0);
	assert_int_equal(chunk_pool_place(pool, &bare, pages, &placement), 0);
	assert_int_equal(placement.count, 0);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(pages[i].count, 0);
	chunk_pool_free(pool);
	plain_memory_done(&plain);
	free_table(&bare);
}

static void rows_outside_the_pool_are_not_shown(void **state)
{
	struct pkbpf_unwind_page page = {.first = PKBPF_CHUNK_ROWS - 2, .count = 3};
	struct plain_memory plain;
	struct chunk_pool *pool;

	plain_memory_init(&plain, 1, 1);
	pool = chunk_pool_new(&plain.memory.chunks, 2);
	assert_int_equal(chunk_pool_grow(pool, 1), 0);
	assert_null(chunk_pool_rows(pool, &page));
	page.count = 2;
	assert_non_null(chunk_pool_rows(pool, &page));
	page.first = PKBPF_CHUNK_ROWS;
	assert_null(chunk_pool_rows(pool, &page));
	page.first = UINT32_MAX;
	page.count = 0;
	assert_null(chunk_pool_rows(pool, &page));
	chunk_pool_free(pool);
	plain_memory_done(&plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smallest_room_that_fits_is_taken),
		cmocka_unit_test(a_table_larger_than_a_chunk_is_spread_over_several),
		cmocka_unit_test(tables_never_overlap),
		cmocka_unit_test(grows_up_to_its_cap_and_survives_refusal),
		cmocka_unit_test(an_empty_table_needs_no_room),
		cmocka_unit_test(rows_outside_the_pool_are_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
