// SPDX-License-Identifier: BSD-2-Clause
/* Stores counts, sums and sparse histograms by key. */
#include "profile/account/distribution.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"

struct distribution_table {
	ARRAY_OF(struct distribution) items;
	struct hash_index index;
	uint64_t seed;
};

struct distribution_table *distribution_table_new(void)
{
	struct distribution_table *table = calloc(1, sizeof(*table));

	if (table)
		table->seed = hash_random_seed();
	return table;
}

void distribution_table_free(struct distribution_table *table)
{
	if (!table)
		return;
	array_foreach(&table->items, item)
		free(item->buckets);
	array_free(&table->items);
	hash_index_done(&table->index);
	free(table);
}

static uint64_t key_hash(const struct distribution_table *table, const struct distribution_key *key)
{
	uint32_t words[] = {(uint32_t)key->kind << 16 | (uint32_t)key->state << 8 | key->measure,
			    key->process, key->tid, key->device};

	return hash_bytes(words, sizeof(words), table->seed);
}

static bool key_equal(const void *context, uint32_t item, const void *wanted)
{
	const struct distribution_table *table = context;
	const struct distribution_key *a = &table->items.items[item].key, *b = wanted;

	return a->kind == b->kind && a->process == b->process && a->tid == b->tid &&
	       a->device == b->device && a->state == b->state && a->measure == b->measure;
}

static void add_saturating(uint64_t *total, uint64_t more)
{
	if (__builtin_add_overflow(*total, more, total))
		*total = UINT64_MAX;
}

/* Both lists are ascending: one pass from the back moves each bucket to its place. */
static int merge_buckets(struct distribution *item, const struct distribution_bucket *more,
			 size_t more_count)
{
	size_t old_at, more_at, to, added = 0;
	struct distribution_bucket *buckets;

	for (old_at = more_at = 0; more_at < more_count; more_at++) {
		while (old_at < item->bucket_count &&
		       item->buckets[old_at].index < more[more_at].index)
			old_at++;
		if (old_at == item->bucket_count ||
		    item->buckets[old_at].index != more[more_at].index)
			added++;
	}
	if (added) {
		buckets = realloc(item->buckets, (item->bucket_count + added) * sizeof(*buckets));
		if (!buckets)
			return -ENOMEM;
		item->buckets = buckets;
	}
	old_at = item->bucket_count;
	more_at = more_count;
	to = item->bucket_count + added;
	item->bucket_count = to;
	while (more_at) {
		const struct distribution_bucket *from = &more[more_at - 1];

		if (old_at && item->buckets[old_at - 1].index >= from->index) {
			item->buckets[--to] = item->buckets[--old_at];
			if (item->buckets[to].index == from->index) {
				add_saturating(&item->buckets[to].count, from->count);
				more_at--;
			}
			continue;
		}
		item->buckets[--to] = *from;
		more_at--;
	}
	return 0;
}

static struct distribution *get(struct distribution_table *table,
				const struct distribution_key *key)
{
	uint64_t hash = key_hash(table, key);
	uint32_t id = hash_index_find(&table->index, hash, key_equal, table, key);
	struct distribution *item;

	if (id != HASH_INDEX_NONE)
		return &table->items.items[id];
	if (table->items.count >= UINT32_MAX - 1 ||
	    !array_reserve(&table->items, table->items.count + 1) ||
	    !hash_index_add(&table->index, hash, (uint32_t)table->items.count))
		return NULL;
	item = array_add(&table->items);
	item->key = *key;
	return item;
}

/* Adds everything but the buckets. */
static void merge_sums(struct distribution *item, const struct distribution *more)
{
	add_saturating(&item->count, more->count);
	add_saturating(&item->total, more->total);
	add_saturating(&item->bytes, more->bytes);
	add_saturating(&item->variance, more->variance);
	if (more->max > item->max)
		item->max = more->max;
	item->estimated = item->estimated || more->estimated;
	item->open = item->open || more->open;
}

int distribution_table_add(struct distribution_table *table, const struct distribution_key *key,
			   const struct distribution_change *change)
{
	const struct distribution more = {
		.count = change->count,
		.total = change->total,
		.max = change->max,
		.bytes = change->bytes,
		.variance = change->variance,
		.estimated = change->estimated,
		.open = change->open,
	};
	struct distribution_bucket buckets[PKBPF_HISTOGRAM_BUCKETS];
	struct distribution *item = get(table, key);
	size_t count = change->bucket_count;

	if (count > PKBPF_HISTOGRAM_BUCKETS) /* more buckets cannot be ascending */
		count = PKBPF_HISTOGRAM_BUCKETS;
	for (size_t i = 0; i < count; i++)
		buckets[i] = (struct distribution_bucket){change->buckets[i].index,
							  change->buckets[i].count};
	if (!item || merge_buckets(item, buckets, count))
		return -ENOMEM;
	merge_sums(item, &more);
	return 0;
}

int distribution_table_put(struct distribution_table *table, const struct distribution_key *key,
			   const struct distribution *more)
{
	struct distribution *item = get(table, key);

	if (!item || merge_buckets(item, more->buckets, more->bucket_count))
		return -ENOMEM;
	merge_sums(item, more);
	return 0;
}

int distribution_table_rekey(struct distribution_table *table,
			     void (*rekey)(const void *context, struct distribution_key *key),
			     const void *context)
{
	_cleanup_free_ uint32_t *places = malloc((table->items.count + 1) * sizeof(*places));
	struct distribution_table fresh = {.seed = table->seed};
	bool done = places;

	/* First all new keys are added, with zero counts. */
	for (size_t i = 0; done && i < table->items.count; i++) {
		struct distribution_key key = table->items.items[i].key;
		struct distribution *item;

		rekey(context, &key);
		item = get(&fresh, &key);
		done = item;
		if (done)
			places[i] = (uint32_t)(item - fresh.items.items);
	}
	if (!done) {
		array_free(&fresh.items);
		hash_index_done(&fresh.index);
		return -ENOMEM;
	}
	for (size_t i = 0; i < table->items.count; i++) {
		struct distribution *from = &table->items.items[i],
				    *item = &fresh.items.items[places[i]];

		merge_sums(item, from);
		if (!item->buckets) {
			item->buckets = from->buckets;
			item->bucket_count = from->bucket_count;
			continue;
		}
		/* Without memory the percentiles cover fewer values. */
		merge_buckets(item, from->buckets, from->bucket_count);
		free(from->buckets);
	}
	array_free(&table->items);
	hash_index_done(&table->index);
	*table = fresh;
	return 0;
}

const struct distribution *distribution_table_find(const struct distribution_table *table,
						   const struct distribution_key *key)
{
	uint32_t id = hash_index_find(&table->index, key_hash(table, key), key_equal, table, key);

	return id == HASH_INDEX_NONE ? NULL : &table->items.items[id];
}

const struct distribution *distribution_table_at(const struct distribution_table *table,
						 size_t index)
{
	return index < table->items.count ? &table->items.items[index] : NULL;
}

void distribution_merge(const struct distribution *distribution, struct histogram *into)
{
	for (size_t i = 0; i < distribution->bucket_count; i++) {
		const struct distribution_bucket *bucket = &distribution->buckets[i];

		if (bucket->index < PKBPF_HISTOGRAM_BUCKETS)
			add_saturating(&into->buckets[bucket->index], bucket->count);
		add_saturating(&into->count, bucket->count);
	}
	add_saturating(&into->sum, distribution->total);
	if (distribution->max > into->max)
		into->max = distribution->max;
}
