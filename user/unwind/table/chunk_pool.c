// SPDX-License-Identifier: BSD-2-Clause
/* Places the rows of tables in chunks. */
#include "unwind/table/chunk_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/table/extent_allocator.h"

/* Minimum size of a table's pieces, except the last. */
#define MIN_PIECE_ROWS 4096U

struct chunk {
	uint32_t *rows;
	struct extent_allocator *room;
};

struct chunk_pool {
	struct chunk_backing backing;
	struct chunk *chunks; /* max_chunks entries, so that it never moves while others read */
	uint32_t count, max_chunks;
};

struct chunk_pool *chunk_pool_new(const struct chunk_backing *backing, uint32_t max_chunks)
{
	struct chunk_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->backing = *backing;
	pool->max_chunks = max_chunks;
	pool->chunks = calloc(max_chunks ? max_chunks : 1, sizeof(*pool->chunks));
	if (!pool->chunks) {
		free(pool);
		return NULL;
	}
	return pool;
}

void chunk_pool_free(struct chunk_pool *pool)
{
	if (!pool)
		return;
	for (uint32_t i = 0; i < pool->count; i++) {
		pool->backing.destroy(pool->backing.context, i, pool->chunks[i].rows);
		extent_allocator_free(pool->chunks[i].room);
	}
	free(pool->chunks);
	free(pool);
}

int chunk_pool_grow(struct chunk_pool *pool, uint32_t count)
{
	struct extent_allocator *rooms[CHUNK_POOL_GROW_AT_ONCE] = {0};
	uint32_t *rows[CHUNK_POOL_GROW_AT_ONCE];
	int err = -ENOMEM;

	if (count > CHUNK_POOL_GROW_AT_ONCE)
		count = CHUNK_POOL_GROW_AT_ONCE;
	if (count > pool->max_chunks - pool->count)
		count = pool->max_chunks - pool->count;
	if (!count)
		return -ENOSPC;
	for (uint32_t i = 0; i < count; i++) {
		rooms[i] = extent_allocator_new(PKBPF_CHUNK_ROWS);
		if (!rooms[i])
			goto fail;
	}
	err = pool->backing.create(pool->backing.context, pool->count, count, rows);
	if (err)
		goto fail;
	for (uint32_t i = 0; i < count; i++)
		pool->chunks[pool->count + i] = (struct chunk){rows[i], rooms[i]};
	pool->count += count;
	return 0;
fail:
	for (uint32_t i = 0; i < count; i++)
		extent_allocator_free(rooms[i]);
	return err;
}

/* Returns the chunk with the least room that holds `rows`; if none does, the one with the largest
 * free piece. */
static struct chunk *choose_chunk(struct chunk_pool *pool, uint32_t rows, uint32_t *ret_largest)
{
	struct chunk *best = NULL;
	uint32_t best_room = 0;

	for (uint32_t i = 0; i < pool->count; i++) {
		uint32_t room = extent_allocator_largest(pool->chunks[i].room);
		bool fits = room >= rows, best_fits = best && best_room >= rows;

		if (!best || (fits && (!best_fits || room < best_room)) ||
		    (!fits && !best_fits && room > best_room)) {
			best = &pool->chunks[i];
			best_room = room;
		}
	}
	*ret_largest = best_room;
	return best;
}

/* Returns how many rows of the pages from *page on fit into `room`, and advances *page past
 * them. */
static uint32_t rows_that_fit(const struct unwind_table *table, uint32_t *page, uint32_t room)
{
	uint32_t rows = 0;

	for (; *page < table->page_count && rows + table->pages[*page].count <= room; (*page)++)
		rows += table->pages[*page].count;
	return rows;
}

int chunk_pool_place(struct chunk_pool *pool, const struct unwind_table *table,
		     struct pkbpf_unwind_page *pages, struct row_placement *ret_placement)
{
	struct row_placement placement = {0};
	uint32_t page = 0, copied = 0;
	int err = -EAGAIN;

	while (page < table->page_count) {
		uint32_t left = table->row_count - copied, room, rows, start, end_page = page;
		struct row_extent *extents;
		struct chunk *chunk;

		chunk = choose_chunk(pool, left, &room);
		rows = chunk ? rows_that_fit(table, &end_page, room) : 0;
		if (end_page == page || (rows < left && rows < MIN_PIECE_ROWS))
			goto fail;
		for (uint32_t i = page; i < end_page; i++)
			pages[i] = (struct pkbpf_unwind_page){0};
		if (!rows) { /* trailing pages without rows */
			page = end_page;
			continue;
		}
		extents = realloc(placement.extents, (placement.count + 1) * sizeof(*extents));
		err = -ENOMEM;
		if (!extents)
			goto fail;
		placement.extents = extents;
		err = -EAGAIN;
		if (!extent_allocator_take(chunk->room, rows, &start))
			goto fail;
		memcpy(&chunk->rows[start], &table->rows[copied], rows * sizeof(*table->rows));
		start += (uint32_t)(chunk - pool->chunks) * PKBPF_CHUNK_ROWS;
		extents[placement.count++] = (struct row_extent){start, rows};
		for (; page < end_page; page++) {
			pages[page].count = table->pages[page].count;
			pages[page].first = start;
			start += table->pages[page].count;
		}
		copied += rows;
	}
	*ret_placement = placement;
	return 0;
fail:
	chunk_pool_remove(pool, &placement);
	return err;
}

void chunk_pool_remove(struct chunk_pool *pool, struct row_placement *placement)
{
	for (size_t i = 0; i < placement->count; i++) {
		const struct row_extent *extent = &placement->extents[i];
		struct chunk *chunk = &pool->chunks[extent->first / PKBPF_CHUNK_ROWS];

		extent_allocator_give(chunk->room, extent->first % PKBPF_CHUNK_ROWS, extent->count);
	}
	free(placement->extents);
	*placement = (struct row_placement){0};
}

uint32_t chunk_pool_count(const struct chunk_pool *pool)
{
	return pool->count;
}

uint32_t chunk_pool_limit(const struct chunk_pool *pool)
{
	return pool->max_chunks;
}

uint64_t chunk_pool_free_rows(const struct chunk_pool *pool)
{
	uint64_t rows = 0;

	for (uint32_t i = 0; i < pool->count; i++)
		rows += extent_allocator_free_count(pool->chunks[i].room);
	return rows;
}

const uint32_t *chunk_pool_rows(const struct chunk_pool *pool, const struct pkbpf_unwind_page *page)
{
	uint32_t chunk = page->first / PKBPF_CHUNK_ROWS, row = page->first % PKBPF_CHUNK_ROWS;

	if (chunk >= pool->max_chunks || !pool->chunks[chunk].rows ||
	    page->count > PKBPF_CHUNK_ROWS - row)
		return NULL;
	return &pool->chunks[chunk].rows[row];
}
