// SPDX-License-Identifier: BSD-2-Clause
/* Makes built tables known to the kernel side. */
#include "unwind/table/table_publish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "unwind/table/table_cache_private.h"
#include "unwind/table/table_room.h"

#define RETRY_NO_ROOM_NS (10 * NS_PER_SECOND)

static void publish_rules(struct table_cache *cache)
{
	uint32_t count = rule_set_count(cache->rules);

	/* Any rule may differ from the published one with its id. */
	if (cache->reuses_rules)
		cache->published_rules = 0;
	if (count > cache->memory.rule_count)
		count = cache->memory.rule_count;
	if (count > cache->published_rules)
		memcpy(&cache->memory.rules[cache->published_rules],
		       rule_set_rules(cache->rules) + cache->published_rules,
		       (count - cache->published_rules) * sizeof(*cache->memory.rules));
	cache->published_rules = count;
}

/* Each growth waits for the kernel, for 0.1 s when many threads are runnable, so it covers the
 * expected rows of all queued files. More is not created, because chunks are resident. */
static uint32_t chunks_wanted(struct table_cache *cache, const struct unwind_table *table)
{
	uint64_t rows = table->row_count, free_rows = chunk_pool_free_rows(cache->pool);

	pthread_mutex_lock(&cache->lock);
	array_foreach(&cache->queue, number)
		rows += cache->files.items[*number]->expected_rows;
	pthread_mutex_unlock(&cache->lock);
	rows = rows > free_rows ? rows - free_rows : 0;
	rows += table->row_count;
	if (rows > (uint64_t)cache->max_chunks * PKBPF_CHUNK_ROWS)
		return cache->max_chunks;
	return 2 + (uint32_t)(rows / PKBPF_CHUNK_ROWS);
}

/* Finds room for the table and copies its rows there. */
static int place(struct table_cache *cache, const struct unwind_table *table,
		 struct row_placement *ret_placement, uint32_t *ret_first_page)
{
	uint32_t first_page = 0;
	int err;

	while (table->page_count &&
	       !extent_allocator_take(cache->page_room, table->page_count, &first_page)) {
		if (!table_room_remove_replaced(cache) &&
		    !table_room_evict(cache, 0, table->page_count))
			return -ENOSPC;
	}
	for (;;) {
		err = chunk_pool_place(cache->pool, table, &cache->memory.pages[first_page],
				       ret_placement);
		if (err != -EAGAIN)
			break;
		if (table_room_remove_replaced(cache))
			continue;
		err = chunk_pool_grow(cache->pool, chunks_wanted(cache, table));
		if (err == -ENOSPC)
			err = table_room_evict(cache, table->row_count, 0) ? 0 : -ENOSPC;
		if (err)
			break;
	}
	if (err && table->page_count)
		extent_allocator_give(cache->page_room, first_page, table->page_count);
	if (!err)
		*ret_first_page = first_page;
	return err;
}

/* The kernel side reads an entry field by field. A table with other bounds needs an entry without
 * readers. */
static void clear_the_way(struct table_cache *cache, struct table_file *file,
			  const struct unwind_table *table)
{
	if (!file->page_count || (table && table->text_start == file->text_start &&
				  table->page_count == file->page_count))
		return;
	__atomic_store_n(&cache->memory.files[file->slot].flags, 0, __ATOMIC_RELEASE);
	table_room_remove_withdrawn(cache, &file, 1);
}

/* With the lock held. The previous table of the file keeps its memory until no unwind uses it. */
static void replace(struct table_cache *cache, struct table_file *file,
		    struct row_placement placement, uint32_t first_page,
		    const struct unwind_table *table)
{
	if (file->page_count)
		*array_add(&cache->replaced) = /* reserved */
			(struct replaced_table){file->placement, file->first_page,
						file->page_count};
	file->placement = placement;
	file->first_page = first_page;
	file->text_start = table ? table->text_start : 0;
	file->page_count = table ? table->page_count : 0;
	file->row_count = table ? table->row_count : 0;
	file->is_partial = table && table->stats.gaps.postponed;
}

/* With the lock held: no room for the new table. A published table of the file stays. */
static void keep_what_there_is(struct table_file *file)
{
	file->state = file->page_count ? TABLE_READY : TABLE_NO_ROOM;
	file->retry_ns = clock_now_ns() + RETRY_NO_ROOM_NS;
}

void table_publish(struct table_cache *cache, struct table_file *file,
		   const struct unwind_table *table, bool is_refused)
{
	struct pkbpf_unwind_file *entry = &cache->memory.files[file->slot];
	struct row_placement placement = {0};
	uint32_t first_page = 0;
	int err = array_reserve(&cache->replaced, cache->replaced.count + 1) ? 0 : -ENOMEM;

	publish_rules(cache);
	clear_the_way(cache, file, table);
	if (table && !err)
		err = place(cache, table, &placement, &first_page);
	pthread_mutex_lock(&cache->lock);
	cache->stats.chunks = chunk_pool_count(cache->pool);
	cache->stats.rules = cache->published_rules;
	if (err) {
		keep_what_there_is(file);
	} else {
		file->state = TABLE_READY;
		replace(cache, file, placement, first_page, table);
		entry->text_start = file->text_start;
		entry->first_page = file->first_page;
		entry->page_count = file->page_count;
		entry->edition = ++cache->last_edition;
		entry->last_used = table_epoch_now();
		/* Last: an unwind that reads the flag reads the other fields, too. */
		__atomic_store_n(&entry->flags,
				 PKBPF_FILE_READY | (is_refused ? PKBPF_FILE_REFUSED : 0),
				 __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&cache->lock);
}
