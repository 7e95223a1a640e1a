/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for the rows of many tables: chunks of PKBPF_CHUNK_ROWS rows, created on demand up to a
 * cap.
 *
 * A table may be split over several places; the rows of one text page stay together. One owner
 * thread changes the pool. Other threads may meanwhile read rows of tables that stay placed.
 */
#ifndef PKBPF_UNWIND_TABLE_CHUNK_POOL_H
#define PKBPF_UNWIND_TABLE_CHUNK_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "unwind/table/unwind_table.h"

/* Creates chunks: BPF maps, or plain memory in tests. */
struct chunk_backing {
	/* Creates chunks first … first + count - 1 and maps their rows for writing. All or none. */
	int (*create)(void *context, uint32_t first, uint32_t count, uint32_t **ret_rows);
	void (*destroy)(void *context, uint32_t index, uint32_t *rows);
	void *context;
};

struct row_extent {
	uint32_t first; /* global row number: chunk * PKBPF_CHUNK_ROWS + row */
	uint32_t count;
};

/* Places of one table's rows. */
struct row_placement {
	struct row_extent *extents;
	size_t count;
};

/* Maximum number of chunks in one call of create(). */
#define CHUNK_POOL_GROW_AT_ONCE 32U

struct chunk_pool;

struct chunk_pool *chunk_pool_new(const struct chunk_backing *backing, uint32_t max_chunks);
void chunk_pool_free(struct chunk_pool *pool);
/* Adds `count` chunks, or fewer near the cap. -ENOSPC at the cap, or the error of the backing. */
int chunk_pool_grow(struct chunk_pool *pool, uint32_t count);
/*
 * Copies the table's rows into free room and writes its pages, with global row numbers, to
 * pages[page_count]. On failure nothing is kept. -EAGAIN: not enough room, grow the pool or remove
 * a table first; -ENOMEM.
 */
int chunk_pool_place(struct chunk_pool *pool, const struct unwind_table *table,
		     struct pkbpf_unwind_page *pages, struct row_placement *ret_placement);
void chunk_pool_remove(struct chunk_pool *pool, struct row_placement *placement);
uint32_t chunk_pool_count(const struct chunk_pool *pool);
uint32_t chunk_pool_limit(const struct chunk_pool *pool);
uint64_t chunk_pool_free_rows(const struct chunk_pool *pool);
/* Returns the rows of a page; NULL when its row numbers are outside the pool. */
const uint32_t *chunk_pool_rows(const struct chunk_pool *pool,
				const struct pkbpf_unwind_page *page);

#endif
