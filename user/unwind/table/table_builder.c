// SPDX-License-Identifier: BSD-2-Clause
/* Builds queued tables by priority. */
#include "unwind/table/table_builder.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread_priority.h"
#include "unwind/table/table_reader.h"
#include "unwind/table/table_room.h"

/* With less free room than this, a chunk is created in advance, because creation waits for a grace
 * period. */
#define SPARE_ROWS    (PKBPF_CHUNK_ROWS / 2)
#define FREE_SLOTS_NS NS_PER_SECOND
/* Samples wait for their tables for at most three seconds. */
#define TOO_LATE_NS	 (4 * NS_PER_SECOND)
#define RETRY_NO_ROOM_NS (10 * NS_PER_SECOND)

static void leave_queue(struct table_cache *cache, size_t index)
{
	cache->queued_bytes -= cache->files.items[cache->queue.items[index]]->kept_bytes;
	cache->queue.items[index] = cache->queue.items[--cache->queue.count];
}

/* With the lock held: no process maps the file any more, and the samples that needed its table are
 * no longer waiting. */
static bool is_too_late(const struct table_file *file, uint64_t now_ns)
{
	return !file->references && now_ns - file->queued_ns >= TOO_LATE_NS;
}

/* With the lock held: closes files that waited for too long. Thousands may belong to short-lived
 * processes. */
static void drop_late_files(struct table_cache *cache)
{
	uint64_t now_ns = clock_now_ns();

	for (size_t i = cache->queue.count; i-- > 0;) {
		struct table_file *file = cache->files.items[cache->queue.items[i]];

		if (!is_too_late(file, now_ns))
			continue;
		leave_queue(cache, i);
		table_file_close(cache, file);
		file->state = file->page_count ? TABLE_READY : TABLE_UNOPENED;
		pthread_cond_broadcast(&cache->changed);
	}
}

/* With the lock held: removes the most wanted file from the queue; of several, the smallest, so
 * that a large file delays few others. NULL: the queue is empty. */
static struct table_file *next_file(struct table_cache *cache)
{
	struct table_file *best = NULL;
	size_t best_index = 0;

	drop_late_files(cache);
	for (size_t i = 0; i < cache->queue.count; i++) {
		struct table_file *file = cache->files.items[cache->queue.items[i]];

		if (!best || (file->urgent && !best->urgent) ||
		    (file->urgent == best->urgent && file->size < best->size)) {
			best = file;
			best_index = i;
		}
	}
	if (best)
		leave_queue(cache, best_index);
	return best;
}

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

/* table NULL: the file has none, or what it has was refused; the unwind step then uses frame
 * pointers. */
static void publish(struct table_cache *cache, struct table_file *file,
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

/* The next request opens the file again. A published table of the file stays. */
static void give_up(struct table_cache *cache, struct table_file *file)
{
	pthread_mutex_lock(&cache->lock);
	file->state = file->page_count ? TABLE_READY : TABLE_UNOPENED;
	pthread_mutex_unlock(&cache->lock);
}

static void build(struct table_cache *cache, struct table_file *file, struct elf_file *image)
{
	const struct table_order order = {
		.readers = cache->readers,
		.image = image,
		.path = file->path,
		.postpone = !file->wants_all,
	};
	uint64_t start_ns = clock_now_ns();
	struct unwind_table *table = NULL;
	int err;

	cache->reuses_rules |= table_room_collect_rules(cache);
	err = table_reader_build(&order, cache->rules, &table, &file->lacks_rules);
	/* A file that was overwritten meanwhile no longer has the code that was mapped. */
	if (elf_program_written_ns(image) == file->written_ns)
		publish(cache, file, err ? NULL : table, err && err != -ENODATA);
	else
		give_up(cache, file);
	unwind_table_free(table);
	pthread_mutex_lock(&cache->lock);
	cache->stats.built++;
	cache->stats.build_ns += clock_now_ns() - start_ns;
	pthread_mutex_unlock(&cache->lock);
}

static bool wants_spare(const struct table_cache *cache)
{
	return chunk_pool_count(cache->pool) < chunk_pool_limit(cache->pool) &&
	       chunk_pool_free_rows(cache->pool) < SPARE_ROWS;
}

/* Work that waits for the kernel, done while the queue is empty. Returns false when none is
 * left. */
static bool do_spare_work(struct table_cache *cache, bool *may_grow)
{
	if (table_room_remove_replaced(cache))
		return true;
	if (!*may_grow || !wants_spare(cache))
		return false;
	*may_grow = chunk_pool_grow(cache->pool, 1) == 0;
	return *may_grow;
}

/* With the lock held. Slots of unmapped files are freed even when no file is queued: files without
 * a slot are not queued. */
static void wait_for_change(struct table_cache *cache)
{
	uint64_t until_ns = clock_now_ns() + FREE_SLOTS_NS;
	struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_SECOND),
				 .tv_nsec = (long)(until_ns % NS_PER_SECOND)};

	if (table_room_is_short_of_slots(cache))
		pthread_cond_timedwait(&cache->changed, &cache->lock, &until);
	else
		pthread_cond_wait(&cache->changed, &cache->lock);
}

static void *run(void *context)
{
	struct table_cache *cache = context;
	uint64_t slots_freed_ns = 0;
	bool may_grow = true, is_busy;

	/* A table that is not built yet costs complete stacks. */
	thread_priority_raise();
	if (cache->initial_chunks)
		chunk_pool_grow(cache->pool, cache->initial_chunks);
	pthread_mutex_lock(&cache->lock);
	while (!cache->stop) {
		struct table_file *file = next_file(cache);
		struct elf_file *image;
		void *memory;

		if (table_room_is_short_of_slots(cache) &&
		    clock_now_ns() - slots_freed_ns >= FREE_SLOTS_NS) {
			/* The file cannot be taken meanwhile: its state is still QUEUED. */
			pthread_mutex_unlock(&cache->lock);
			table_room_free_slots(cache);
			slots_freed_ns = clock_now_ns();
			pthread_mutex_lock(&cache->lock);
		}
		if (!file) {
			pthread_mutex_unlock(&cache->lock);
			is_busy = do_spare_work(cache, &may_grow);
			pthread_mutex_lock(&cache->lock);
			if (!is_busy && !cache->queue.count && !cache->stop)
				wait_for_change(cache);
			continue;
		}
		file->state = TABLE_BUILDING;
		cache->building_sequence = file->sequence;
		image = file->image;
		memory = file->image_memory;
		file->image = NULL;
		file->image_memory = NULL;
		pthread_mutex_unlock(&cache->lock);
		build(cache, file, image);
		elf_program_free(image);
		free(memory);
		pthread_mutex_lock(&cache->lock);
		cache->building_sequence = 0;
		pthread_cond_broadcast(&cache->changed);
	}
	pthread_mutex_unlock(&cache->lock);
	return NULL;
}

int table_builder_start(struct table_cache *cache)
{
	sigset_t all, before;
	int err;

	cache->rules = rule_set_new();
	cache->page_room = extent_allocator_new(cache->memory.page_count);
	cache->pool = chunk_pool_new(&cache->memory.chunks, cache->max_chunks);
	if (!cache->rules || !cache->page_room || !cache->pool)
		return -ENOMEM;
	/* Signals are handled by the main thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&cache->builder, NULL, run, cache);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return -err;
	cache->started = true;
	return 0;
}

void table_builder_stop(struct table_cache *cache)
{
	if (cache->started) {
		pthread_mutex_lock(&cache->lock);
		cache->stop = true;
		pthread_cond_broadcast(&cache->changed);
		pthread_mutex_unlock(&cache->lock);
		pthread_join(cache->builder, NULL);
		cache->started = false;
	}
	array_foreach(&cache->replaced, old)
		free(old->placement.extents);
	array_free(&cache->replaced);
	chunk_pool_free(cache->pool);
	extent_allocator_free(cache->page_room);
	rule_set_free(cache->rules);
	cache->pool = NULL;
	cache->page_room = NULL;
	cache->rules = NULL;
}
