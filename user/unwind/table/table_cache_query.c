// SPDX-License-Identifier: BSD-2-Clause
/* Queries tables, and waits for them on request. */
#include "unwind/table/table_cache.h"

#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "process/file/mapped_file.h"
#include "unwind/table/table_cache_private.h"

struct table_file *table_cache_find_file(struct table_cache *cache, uint32_t number)
{
	return number < cache->files.count ? cache->files.items[number] : NULL;
}

/* With the lock held, under which rows are removed. A table stays readable during its rebuild. */
static uint32_t find_rule_id(const struct table_cache *cache, const struct table_file *file,
			     uint64_t elf_address)
{
	uint64_t index = (elf_address - file->text_start) >> PKBPF_TEXT_PAGE_SHIFT;
	uint32_t offset = elf_address & (PKBPF_TEXT_PAGE_SIZE - 1), at = 0, count;
	const struct pkbpf_unwind_page *page;
	const uint32_t *rows;

	if (index >= file->page_count)
		return RULE_ID_NONE;
	page = &cache->memory.pages[file->first_page + index];
	rows = chunk_pool_rows(cache->pool, page);
	if (!page->count || !rows)
		return RULE_ID_NONE;
	for (count = page->count; count > 1; count -= count >> 1) {
		if (PKBPF_ROW_OFFSET(rows[at + (count >> 1)]) <= offset)
			at += count >> 1;
	}
	return PKBPF_ROW_RULE(rows[at]);
}

bool table_cache_is_postponed(const struct table_cache *cache, const struct table_file *file,
			      uint64_t elf_address)
{
	uint32_t id = find_rule_id(cache, file, elf_address);

	return id < cache->memory.rule_count && cache->memory.rules[id].cfa == PKBPF_CFA_PENDING;
}

bool table_cache_ready(struct table_cache *cache, uint32_t number)
{
	struct table_file *file = table_cache_find_file(cache, number);
	bool ready;

	if (!file)
		return false;
	pthread_mutex_lock(&cache->lock);
	ready = file->state == TABLE_READY || file->state == TABLE_NONE ||
		((file->state == TABLE_QUEUED || file->state == TABLE_BUILDING) &&
		 file->page_count);
	pthread_mutex_unlock(&cache->lock);
	return ready;
}

static bool still_waiting(const struct table_cache *cache, uint64_t sequence)
{
	for (size_t i = 0; i < TABLE_WORKS; i++)
		if (cache->works[i].file && cache->works[i].sequence <= sequence)
			return true;
	array_foreach(&cache->queue, number) {
		if (cache->files.items[*number]->sequence <= sequence)
			return true;
	}
	return false;
}

static struct timespec after(uint64_t timeout_ns)
{
	uint64_t until_ns = clock_now_ns() + timeout_ns;

	return (struct timespec){
		.tv_sec = (time_t)(until_ns / NS_PER_SECOND),
		.tv_nsec = (long)(until_ns % NS_PER_SECOND),
	};
}

bool table_cache_wait(struct table_cache *cache, uint64_t timeout_ns)
{
	struct timespec until = after(timeout_ns);
	uint64_t sequence;
	bool waiting;
	int err = 0;

	pthread_mutex_lock(&cache->lock);
	sequence = cache->last_sequence;
	while ((waiting = still_waiting(cache, sequence)) && err == 0)
		err = pthread_cond_timedwait(&cache->changed, &cache->lock, &until);
	pthread_mutex_unlock(&cache->lock);
	return !waiting;
}

bool table_cache_wait_file(struct table_cache *cache, uint32_t number, uint64_t timeout_ns)
{
	struct table_file *file = table_cache_find_file(cache, number);
	struct timespec until = after(timeout_ns);
	bool waiting;
	int err = 0;

	if (!file)
		return true;
	pthread_mutex_lock(&cache->lock);
	while ((waiting = file->state == TABLE_QUEUED || file->state == TABLE_BUILDING) && err == 0)
		err = pthread_cond_timedwait(&cache->changed, &cache->lock, &until);
	pthread_mutex_unlock(&cache->lock);
	return !waiting;
}

bool table_cache_idle(struct table_cache *cache)
{
	uint64_t now_ns = clock_now_ns();
	bool idle;

	pthread_mutex_lock(&cache->lock);
	idle = !cache->queue.count;
	for (size_t i = 0; i < TABLE_WORKS; i++)
		idle &= !cache->works[i].file || now_ns - cache->works[i].since_ns >= TABLE_WAIT_NS;
	pthread_mutex_unlock(&cache->lock);
	return idle;
}

bool table_cache_find_rule(struct table_cache *cache, uint32_t number, uint64_t elf_address,
			   struct pkbpf_unwind_rule *ret_rule)
{
	struct table_file *file = table_cache_find_file(cache, number);
	uint32_t id;

	if (!file)
		return false;
	pthread_mutex_lock(&cache->lock);
	id = find_rule_id(cache, file, elf_address);
	if (id < cache->memory.rule_count)
		*ret_rule = cache->memory.rules[id];
	pthread_mutex_unlock(&cache->lock);
	return id < cache->memory.rule_count;
}

const char *table_cache_path(struct table_cache *cache, uint32_t number)
{
	const struct mapped_file *mapped = mapped_file_table_get(cache->mapped_files, number);

	return mapped ? mapped->path : "";
}

void table_cache_size(struct table_cache *cache, uint32_t number, uint32_t *ret_rows,
		      uint64_t *ret_bytes)
{
	struct table_file *file = table_cache_find_file(cache, number);

	*ret_rows = 0;
	*ret_bytes = 0;
	if (!file)
		return;
	pthread_mutex_lock(&cache->lock);
	*ret_rows = file->row_count;
	*ret_bytes = file->row_count * sizeof(uint32_t) +
		     file->page_count * sizeof(struct pkbpf_unwind_page);
	pthread_mutex_unlock(&cache->lock);
}

struct table_cache_stats table_cache_stats(struct table_cache *cache)
{
	struct table_cache_stats stats;

	pthread_mutex_lock(&cache->lock);
	stats = cache->stats;
	stats.waiting = (uint32_t)cache->queue.count;
	for (size_t i = 0; i < TABLE_WORKS; i++)
		stats.waiting += cache->works[i].file != NULL;
	array_foreach(&cache->files, each) {
		const struct table_file *file = *each;

		if (!file)
			continue;
		stats.files++;
		stats.unopened += file->state == TABLE_UNOPENED;
		stats.without += file->state == TABLE_NONE ||
				 (file->state == TABLE_READY && !file->page_count);
		stats.no_room += file->state == TABLE_NO_ROOM;
		if (file->state == TABLE_READY && file->page_count) {
			stats.tables++;
			stats.rows += file->row_count;
			stats.pages += file->page_count;
		}
	}
	pthread_mutex_unlock(&cache->lock);
	return stats;
}
