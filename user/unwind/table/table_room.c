// SPDX-License-Identifier: BSD-2-Clause
/* Frees rows, pages, slots and rules that are no longer needed. */
#include "unwind/table/table_room.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "unwind/table/table_live_private.h"

/* A table used within this many epochs (of about a second) is not evicted for another. */
#define MIN_UNUSED_EPOCHS   10U
#define MIN_UNMAPPED_EPOCHS 2U
#define MAX_VICTIMS	    64
/* Minimum share to evict at once. Each eviction waits for the kernel side; tables that replace each
 * other one by one would need 100 waits per second. */
#define EVICTED_PART 16U
/* With fewer rules left than this, unused ones are collected. */
#define FEW_RULES	(PKBPF_UNWIND_MAX_RULES / 4)
#define COLLECT_WAIT_NS (10 * NS_PER_SECOND)

/* The kernel side may have recorded an epoch later than now_epoch. */
static uint32_t epochs_unused(const struct table_cache *cache, const struct table_file *file,
			      uint32_t now_epoch)
{
	uint32_t age = now_epoch - cache->memory.files[file->slot].last_used;

	return age <= INT32_MAX ? age : 0;
}

/* With the lock held: new unwinds no longer find the table. */
static void withdraw(struct table_cache *cache, struct table_file *file)
{
	__atomic_store_n(&cache->memory.files[file->slot].flags, 0, __ATOMIC_RELEASE);
	cache->stats.evictions += file->state == TABLE_READY;
	table_file_close(cache, file);
	file->state = TABLE_EVICTED;
}

struct candidate {
	struct table_file *file;
	uint32_t age;
};

/* With the lock held: finds published tables for eviction, unmapped ones first, then by age. Tables
 * in use are skipped. */
static size_t find_victims(struct table_cache *cache, uint32_t now_epoch, struct candidate *victims)
{
	size_t count = 0;

	array_foreach(&cache->files, each) {
		struct table_file *file = *each;
		uint32_t age;
		size_t at;

		if (!file || file->state != TABLE_READY || !file->page_count)
			continue;
		age = epochs_unused(cache, file, now_epoch);
		/* Not a new file: its mapping may be unpublished so far. */
		if (!file->references && age >= MIN_UNMAPPED_EPOCHS)
			age += UINT32_MAX / 2;
		if (age < MIN_UNUSED_EPOCHS ||
		    (count == MAX_VICTIMS && age <= victims[count - 1].age))
			continue;
		count += count < MAX_VICTIMS;
		for (at = count - 1; at && victims[at - 1].age < age; at--)
			victims[at] = victims[at - 1];
		victims[at] = (struct candidate){file, age};
	}
	return count;
}

void table_room_remove_withdrawn(struct table_cache *cache, struct table_file **victims,
				 size_t count)
{
	cache->memory.wait_for_readers(cache->memory.context);
	pthread_mutex_lock(&cache->lock);
	for (size_t i = 0; i < count; i++) {
		struct table_file *victim = victims[i];

		chunk_pool_remove(cache->pool, &victim->placement);
		if (victim->page_count)
			extent_allocator_give(cache->page_room, victim->first_page,
					      victim->page_count);
		victim->page_count = victim->row_count = 0;
	}
	pthread_mutex_unlock(&cache->lock);
}

static uint32_t at_least(uint32_t wanted, uint32_t least)
{
	return wanted && wanted < least ? least : wanted;
}

bool table_room_evict(struct table_cache *cache, uint32_t rows, uint32_t pages)
{
	uint32_t epoch = table_epoch_now(), freed_rows = 0, freed_pages = 0;
	struct candidate candidates[MAX_VICTIMS];
	struct table_file *victims[MAX_VICTIMS];
	size_t count = 0, found;

	rows = at_least(rows, cache->max_chunks * (PKBPF_CHUNK_ROWS / EVICTED_PART));
	pages = at_least(pages, cache->memory.page_count / EVICTED_PART);
	pthread_mutex_lock(&cache->lock);
	found = find_victims(cache, epoch, candidates);
	while (count < found && (freed_rows < rows || freed_pages < pages)) {
		struct table_file *victim = candidates[count].file;

		withdraw(cache, victim);
		freed_rows += victim->row_count;
		freed_pages += victim->page_count;
		victims[count++] = victim;
	}
	pthread_mutex_unlock(&cache->lock);
	if (!count)
		return false;
	table_room_remove_withdrawn(cache, victims, count);
	return true;
}

/* With the lock held: no process maps the file, and none has for a while. */
static bool is_left_alone(const struct table_cache *cache, const struct table_file *file,
			  uint32_t now_epoch)
{
	return !file->references && epochs_unused(cache, file, now_epoch) >= MIN_UNMAPPED_EPOCHS;
}

/* Returns false when there may be more. */
static bool free_some_slots(struct table_cache *cache)
{
	uint32_t epoch = table_epoch_now();
	struct table_file *victims[MAX_VICTIMS];
	size_t count = 0;

	pthread_mutex_lock(&cache->lock);
	array_foreach(&cache->files, each) {
		struct table_file *file = *each;

		if (count == MAX_VICTIMS)
			break;
		if (!file || file->slot == NO_SLOT || !is_left_alone(cache, file, epoch) ||
		    (file->state != TABLE_UNOPENED && file->state != TABLE_UNWANTED &&
		     file->state != TABLE_READY && file->state != TABLE_EVICTED &&
		     file->state != TABLE_NO_ROOM))
			continue;
		withdraw(cache, file);
		victims[count++] = file;
	}
	pthread_mutex_unlock(&cache->lock);
	if (!count)
		return true;
	table_room_remove_withdrawn(cache, victims, count);
	pthread_mutex_lock(&cache->lock);
	for (size_t i = 0; i < count; i++) {
		/* Mapped again meanwhile: the new mapping refers to the slot. */
		if (victims[i]->references || victims[i]->state != TABLE_EVICTED)
			continue;
		extent_allocator_give(cache->slots, victims[i]->slot, 1);
		victims[i]->slot = NO_SLOT;
		victims[i]->state = TABLE_UNOPENED;
	}
	pthread_mutex_unlock(&cache->lock);
	return count < MAX_VICTIMS;
}

bool table_room_is_short_of_slots(const struct table_cache *cache)
{
	return extent_allocator_free_count(cache->slots) < cache->memory.file_count / 16;
}

void table_room_free_slots(struct table_cache *cache)
{
	bool is_short = true, is_done = false;

	while (is_short && !is_done) {
		is_done = free_some_slots(cache);
		pthread_mutex_lock(&cache->lock);
		is_short = table_room_is_short_of_slots(cache);
		pthread_mutex_unlock(&cache->lock);
	}
}

bool table_room_remove_replaced(struct table_cache *cache)
{
	if (!cache->replaced.count)
		return false;
	cache->memory.wait_for_readers(cache->memory.context);
	pthread_mutex_lock(&cache->lock);
	array_foreach(&cache->replaced, old) {
		chunk_pool_remove(cache->pool, &old->placement);
		extent_allocator_give(cache->page_room, old->first_page, old->page_count);
	}
	pthread_mutex_unlock(&cache->lock);
	cache->replaced.count = 0;
	return true;
}

/* Withdraws the tables of unmapped files, and those that lack rules because the set was full. */
static void withdraw_for_rules(struct table_cache *cache)
{
	ARRAY_OF(struct table_file *) victims = {0};
	uint32_t epoch = table_epoch_now();

	pthread_mutex_lock(&cache->lock);
	array_foreach(&cache->files, each) {
		struct table_file *file = *each, **victim;

		if (!file || file->state != TABLE_READY || !file->page_count ||
		    (!file->lacks_rules && !is_left_alone(cache, file, epoch)))
			continue;
		victim = array_add(&victims);
		if (!victim)
			break;
		withdraw(cache, file);
		*victim = file;
	}
	pthread_mutex_unlock(&cache->lock);
	if (victims.count)
		table_room_remove_withdrawn(cache, victims.items, victims.count);
	array_free(&victims);
}

/* With the lock held. */
static void mark_rules(const struct table_cache *cache, const struct table_file *file,
		       bool *is_used)
{
	for (uint32_t i = 0; i < file->page_count; i++) {
		const struct pkbpf_unwind_page *page = &cache->memory.pages[file->first_page + i];
		const uint32_t *rows = page->count ? chunk_pool_rows(cache->pool, page) : NULL;

		for (uint32_t row = 0; rows && row < page->count; row++)
			is_used[PKBPF_ROW_RULE(rows[row])] = true;
	}
}

bool table_room_collect_rules(struct table_cache *cache)
{
	_cleanup_free_ bool *is_used = NULL;
	uint64_t now_ns = clock_now_ns();

	if (rule_set_room(cache->rules) >= FEW_RULES || now_ns < cache->collect_ns)
		return false;
	cache->collect_ns = now_ns + COLLECT_WAIT_NS;
	is_used = calloc(PKBPF_UNWIND_MAX_RULES, sizeof(*is_used));
	if (!is_used)
		return false;
	withdraw_for_rules(cache);
	table_room_remove_replaced(cache);
	pthread_mutex_lock(&cache->lock);
	array_foreach(&cache->files, each) {
		if (*each)
			mark_rules(cache, *each, is_used);
	}
	table_live_mark_rules(cache, mark_rules, is_used);
	pthread_mutex_unlock(&cache->lock);
	return rule_set_keep(cache->rules, is_used);
}
