// SPDX-License-Identifier: BSD-2-Clause
/* Has queued tables built, by priority. */
#include "unwind/table/table_builder.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/thread_priority.h"
#include "unwind/table/table_cache_private.h"
#include "unwind/table/table_live_private.h"
#include "unwind/table/table_publish.h"
#include "unwind/table/table_room.h"

/* With less free room than this, a chunk is created in advance, because creation waits for a grace
 * period. */
#define SPARE_ROWS    (PKBPF_CHUNK_ROWS / 2)
#define FREE_SLOTS_NS NS_PER_SECOND
/* Samples wait for their tables for at most three seconds. */
#define TOO_LATE_NS (4 * NS_PER_SECOND)
/* A reader that takes longer does not keep others waiting. */
#define LATE_MS 100
/* So many that wait are more than one reader should have: those of a machine, at the start. */
#define MANY_FILES 16
/* How soon the second one is asked for a file that comes then. */
#define LOOK_MS 20
/* Files of this size take as long as those that have none. */
#define LEAST_COST_BYTES (256U << 10)

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

/* How much waiting ends for each moment of building: how often it was asked for, to its size. */
static double value_of(const struct table_file *file)
{
	return ((double)file->wants + 1) / ((double)file->size + LEAST_COST_BYTES);
}

/* With the lock held: removes from the queue the file whose table is worth most. A large file
 * delays few others, one that is in most samples comes before small ones that are in few. NULL: the
 * queue is empty. */
static struct table_file *next_file(struct table_cache *cache)
{
	struct table_file *best = NULL;
	size_t best_index = 0;

	drop_late_files(cache);
	for (size_t i = 0; i < cache->queue.count; i++) {
		struct table_file *file = cache->files.items[cache->queue.items[i]];

		if (!best || (file->urgent && !best->urgent) ||
		    (file->urgent == best->urgent && value_of(file) > value_of(best))) {
			best = file;
			best_index = i;
		}
	}
	if (best)
		leave_queue(cache, best_index);
	return best;
}

/* The next request opens the file again. A published table of the file stays. */
static void give_up(struct table_cache *cache, struct table_file *file)
{
	pthread_mutex_lock(&cache->lock);
	file->state = file->page_count ? TABLE_READY : TABLE_UNOPENED;
	pthread_mutex_unlock(&cache->lock);
}

static void finish(struct table_cache *cache, struct table_work *work, int err,
		   struct unwind_table *table)
{
	struct table_file *file = work->file;

	/* A file that was overwritten meanwhile no longer has the code that was mapped. */
	if (elf_program_written_ns(work->image) == file->written_ns)
		table_publish(cache, file, err ? NULL : table, err && err != -ENODATA);
	else
		give_up(cache, file);
	unwind_table_free(table);
	elf_program_free(work->image);
	free(work->image_memory);
	pthread_mutex_lock(&cache->lock);
	cache->stats.built++;
	cache->stats.build_ns += clock_now_ns() - work->since_ns;
	file->wants = 0;
	work->file = NULL;
	pthread_cond_broadcast(&cache->changed);
	pthread_mutex_unlock(&cache->lock);
}

/* Asks a reader, or builds it here. */
static void begin(struct table_cache *cache, struct table_work *work)
{
	struct table_file *file = work->file;
	struct unwind_table *table = NULL;
	int err;

	work->job.order = (struct table_order){
		.readers = cache->readers,
		.image = work->image,
		.path = file->path,
		.postpone = !file->wants_all,
	};
	cache->reuses_rules |= table_room_collect_rules(cache);
	err = table_reader_begin(&work->job,
				 work == &cache->works[0] ? READER_TABLES : READER_TABLES_BESIDE);
	if (!err)
		return;
	if (err == -ENOTCONN)
		err = table_reader_build_here(&work->job.order, cache->rules, &table,
					      &file->lacks_rules);
	finish(cache, work, err, table);
}

static void look(struct table_cache *cache, struct table_work *work)
{
	struct table_file *file = work->file;
	struct unwind_table *table = NULL;
	int err = table_reader_take(&work->job, cache->rules, &table, &file->lacks_rules);

	if (err == -ENOTCONN)
		err = table_reader_build_here(&work->job.order, cache->rules, &table,
					      &file->lacks_rules);
	if (err != -EAGAIN)
		finish(cache, work, err, table);
}

/* Sleeps until a reader has something to say, or another one might be asked. */
static void await_readers(struct table_cache *cache)
{
	const struct reader_asked *asked[TABLE_WORKS];
	size_t count = 0;

	for (size_t i = 0; i < TABLE_WORKS; i++)
		if (cache->works[i].file)
			asked[count++] = &cache->works[i].job.asked;
	readers_wait(cache->readers, asked, count, count < TABLE_WORKS ? LOOK_MS : LATE_MS);
	for (size_t i = 0; i < TABLE_WORKS; i++)
		if (cache->works[i].file)
			look(cache, &cache->works[i]);
}

/* With the lock held: what the next file may be built by. A second reader works only while the
 * first one is slow or many files wait, so that whoever is profiled keeps a CPU. NULL: nothing. */
static struct table_work *next_work(struct table_cache *cache)
{
	struct table_work *idle = NULL;
	uint64_t now_ns = clock_now_ns();

	for (size_t i = 0; i < TABLE_WORKS; i++) {
		struct table_work *work = &cache->works[i];

		if (!work->file)
			idle = idle ? idle : work;
		else if (now_ns - work->since_ns < LATE_MS * NS_PER_MS &&
			 cache->queue.count < MANY_FILES)
			return NULL;
	}
	return idle;
}

/* With the lock held. */
static bool is_working(const struct table_cache *cache)
{
	for (size_t i = 0; i < TABLE_WORKS; i++)
		if (cache->works[i].file)
			return true;
	return false;
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

/* With the lock held, which is given back meanwhile. The file cannot be taken: its state is still
 * QUEUED. */
static void free_slots(struct table_cache *cache, uint64_t *slots_freed_ns)
{
	if (!table_room_is_short_of_slots(cache) ||
	    clock_now_ns() - *slots_freed_ns < FREE_SLOTS_NS)
		return;
	pthread_mutex_unlock(&cache->lock);
	table_room_free_slots(cache);
	*slots_freed_ns = clock_now_ns();
	pthread_mutex_lock(&cache->lock);
}

/* With the lock held: the file becomes that of the work. */
static void take_file(struct table_work *work, struct table_file *file)
{
	file->state = TABLE_BUILDING;
	*work = (struct table_work){
		.file = file,
		.sequence = file->sequence,
		.since_ns = clock_now_ns(),
		.image = file->image,
		.image_memory = file->image_memory,
	};
	file->image = NULL;
	file->image_memory = NULL;
}

/* With the lock held, which is given back meanwhile. */
static void wait_for_work(struct table_cache *cache, bool *may_grow)
{
	bool is_busy;

	pthread_mutex_unlock(&cache->lock);
	is_busy = do_spare_work(cache, may_grow);
	pthread_mutex_lock(&cache->lock);
	if (!is_busy && !cache->queue.count && !table_live_has_news(cache) && !cache->stop)
		wait_for_change(cache);
}

static void drop_works(struct table_cache *cache)
{
	for (size_t i = 0; i < TABLE_WORKS; i++) {
		struct table_work *work = &cache->works[i];

		if (!work->file)
			continue;
		table_reader_drop(&work->job);
		elf_program_free(work->image);
		free(work->image_memory);
		work->file = NULL;
	}
}

static void *run(void *context)
{
	struct table_cache *cache = context;
	uint64_t slots_freed_ns = 0;
	bool may_grow = true;

	/* A table that is not built yet costs complete stacks. */
	thread_priority_raise();
	if (cache->initial_chunks)
		chunk_pool_grow(cache->pool, cache->initial_chunks);
	pthread_mutex_lock(&cache->lock);
	while (!cache->stop) {
		struct table_work *work;
		struct table_file *file;

		table_live_publish(cache);
		work = next_work(cache);
		file = work ? next_file(cache) : NULL;
		free_slots(cache, &slots_freed_ns);
		if (file)
			take_file(work, file);
		if (!file && !is_working(cache)) {
			wait_for_work(cache, &may_grow);
			continue;
		}
		pthread_mutex_unlock(&cache->lock);
		if (file)
			begin(cache, work);
		else
			await_readers(cache);
		pthread_mutex_lock(&cache->lock);
	}
	pthread_mutex_unlock(&cache->lock);
	drop_works(cache);
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
