// SPDX-License-Identifier: BSD-2-Clause
/* Publishes tables again and again. */
#include "unwind/table/table_live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "unwind/table/table_live_private.h"
#include "unwind/table/table_publish.h"
#include "unwind/table/table_room.h"

/* Entries of mappings are reused after two sweeps without a process that refers to them. */
#define KEPT_AFTER_DROP_NS (10 * NS_PER_SECOND)
/* Of all pages, for all live tables. */
#define LIVE_PART 2

struct table_live *table_live_new(struct table_cache *cache)
{
	struct table_live *live = calloc(1, sizeof(*live)), **item;

	if (!live)
		return NULL;
	live->file.state = TABLE_UNOPENED;
	pthread_mutex_lock(&cache->lock);
	item = array_reserve(&cache->live, cache->live.count + 1) &&
			       extent_allocator_take(cache->slots, 1, &live->file.slot)
		       ? array_add(&cache->live)
		       : NULL;
	if (item)
		*item = live;
	pthread_mutex_unlock(&cache->lock);
	if (item)
		return live;
	free(live);
	return NULL;
}

static void drop_next(struct table_live *live)
{
	unwind_table_free(live->next);
	free(live->rules);
	live->next = NULL;
	live->rules = NULL;
}

void table_live_drop(struct table_cache *cache, struct table_live *live)
{
	if (!live)
		return;
	pthread_mutex_lock(&cache->lock);
	__atomic_store_n(&cache->memory.files[live->file.slot].flags, 0, __ATOMIC_RELEASE);
	drop_next(live);
	live->dropped_ns = clock_now_ns();
	pthread_cond_broadcast(&cache->changed);
	pthread_mutex_unlock(&cache->lock);
}

/* With the lock held. Pages of live tables are not evicted, so they get a part only. */
static bool has_room(const struct table_cache *cache, const struct table_live *live,
		     const struct unwind_table *table)
{
	uint64_t pages = table->page_count;

	array_foreach(&cache->live, each)
		if (*each != live)
			pages += (*each)->next ? (*each)->next->page_count
					       : (*each)->file.page_count;
	return pages <= cache->memory.page_count / LIVE_PART;
}

int table_live_set(struct table_cache *cache, struct table_live *live, struct unwind_table *table,
		   const struct pkbpf_unwind_rule *rules, uint32_t rule_count)
{
	struct pkbpf_unwind_rule *copy = malloc((rule_count + 1) * sizeof(*copy));

	if (!copy) {
		unwind_table_free(table);
		return -ENOMEM;
	}
	memcpy(copy, rules, rule_count * sizeof(*copy));
	pthread_mutex_lock(&cache->lock);
	if (!has_room(cache, live, table)) {
		pthread_mutex_unlock(&cache->lock);
		unwind_table_free(table);
		free(copy);
		return -ENOSPC;
	}
	drop_next(live);
	live->next = table;
	live->rules = copy;
	live->rule_count = rule_count;
	pthread_cond_broadcast(&cache->changed);
	pthread_mutex_unlock(&cache->lock);
	return 0;
}

uint32_t table_live_file(const struct table_live *live)
{
	return live->file.slot;
}

bool table_live_is_ready(struct table_cache *cache, const struct table_live *live)
{
	bool ready;

	pthread_mutex_lock(&cache->lock);
	ready = live->file.state == TABLE_READY && live->file.page_count;
	pthread_mutex_unlock(&cache->lock);
	return ready;
}

static bool is_due(const struct table_live *live, uint64_t now_ns)
{
	return live->next ||
	       (live->dropped_ns &&
		(live->file.page_count || now_ns >= live->dropped_ns + KEPT_AFTER_DROP_NS));
}

bool table_live_has_news(const struct table_cache *cache)
{
	uint64_t now_ns = clock_now_ns();

	array_foreach(&cache->live, each)
		if (is_due(*each, now_ns))
			return true;
	return false;
}

/* Replaces the numbers of a JVM's rules by those of the cache's. Returns false when out of memory.
 */
static bool number_rules(struct table_cache *cache, struct unwind_table *table,
			 const struct pkbpf_unwind_rule *rules, uint32_t rule_count)
{
	uint32_t *ids = malloc((rule_count + 1) * sizeof(*ids));

	if (!ids)
		return false;
	rule_set_begin_file(cache->rules);
	for (uint32_t i = 0; i < rule_count; i++)
		ids[i] = i < RULE_ID_FIXED_COUNT ? i : rule_set_add(cache->rules, &rules[i]);
	for (uint32_t i = 0; i < table->row_count; i++) {
		uint32_t rule = PKBPF_ROW_RULE(table->rows[i]);

		table->rows[i] = PKBPF_ROW(PKBPF_ROW_OFFSET(table->rows[i]),
					   rule < rule_count ? ids[rule] : RULE_ID_NO_ROOM);
	}
	free(ids);
	return true;
}

/* With the lock held, which is given back meanwhile. */
static void publish_next(struct table_cache *cache, struct table_live *live)
{
	struct unwind_table *table = live->next;
	struct pkbpf_unwind_rule *rules = live->rules;
	uint32_t rule_count = live->rule_count;

	live->next = NULL;
	live->rules = NULL;
	pthread_mutex_unlock(&cache->lock);
	if (number_rules(cache, table, rules, rule_count))
		table_publish(cache, &live->file, table, false);
	unwind_table_free(table);
	free(rules);
	pthread_mutex_lock(&cache->lock);
}

/* With the lock held, which is given back meanwhile. Returns whether it is freed. */
static bool finish_dropped(struct table_cache *cache, struct table_live *live, uint64_t now_ns)
{
	struct table_file *file = &live->file;

	/* It may have been published since. */
	__atomic_store_n(&cache->memory.files[file->slot].flags, 0, __ATOMIC_RELEASE);
	if (file->page_count) {
		pthread_mutex_unlock(&cache->lock);
		table_room_remove_withdrawn(cache, &file, 1);
		pthread_mutex_lock(&cache->lock);
	}
	/* It may have been dropped after now_ns. */
	if (now_ns < live->dropped_ns + KEPT_AFTER_DROP_NS)
		return false;
	extent_allocator_give(cache->slots, file->slot, 1);
	drop_next(live);
	free(live);
	return true;
}

void table_live_publish(struct table_cache *cache)
{
	uint64_t now_ns = clock_now_ns();

	/* The owner thread only appends. */
	for (size_t i = 0; i < cache->live.count; i++) {
		struct table_live *live = cache->live.items[i];

		if (!is_due(live, now_ns))
			continue;
		if (!live->dropped_ns)
			publish_next(cache, live);
		else if (finish_dropped(cache, live, now_ns))
			cache->live.items[i--] = cache->live.items[--cache->live.count];
	}
}

void table_live_mark_rules(const struct table_cache *cache,
			   void (*mark)(const struct table_cache *cache,
					const struct table_file *file, bool *is_used),
			   bool *is_used)
{
	array_foreach(&cache->live, each)
		mark(cache, &(*each)->file, is_used);
}

void table_live_free_all(struct table_cache *cache)
{
	array_foreach(&cache->live, each) {
		drop_next(*each);
		free((*each)->file.placement.extents);
		free(*each);
	}
	array_free(&cache->live);
}
