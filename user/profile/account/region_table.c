// SPDX-License-Identifier: BSD-2-Clause
/* Stores regions by process, parent and name. */
#include "profile/account/region_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "profile/account/account.h"

#define KEY_FLAGS (PKBPF_REGION_BY_ID | PKBPF_REGION_REQUEST)

struct region_table {
	ARRAY_OF(struct region) items;
	struct hash_index index;
	uint64_t seed;
};

static void init(void *account)
{
	struct region_table *table = account;

	table->seed = hash_random_seed();
}

static void done(void *account)
{
	struct region_table *table = account;

	array_foreach(&table->items, item)
		free(item->buckets);
	array_free(&table->items);
	hash_index_done(&table->index);
}

struct region_table *region_table_new(void)
{
	return account_new(ACCOUNT_regions);
}

void region_table_free(struct region_table *table)
{
	account_free(ACCOUNT_regions, table);
}

static uint64_t key_hash(const struct region_table *table, const struct region *key)
{
	uint32_t words[] = {key->process, key->parent, key->name, key->flags & KEY_FLAGS};

	return hash_bytes(words, sizeof(words), table->seed);
}

static bool key_equal(const void *context, uint32_t item, const void *wanted)
{
	const struct region_table *table = context;
	const struct region *a = &table->items.items[item], *b = wanted;

	return a->process == b->process && a->parent == b->parent && a->name == b->name &&
	       !((a->flags ^ b->flags) & KEY_FLAGS);
}

int64_t region_table_get(struct region_table *table, uint32_t process, uint32_t parent,
			 uint32_t name, uint32_t flags)
{
	const struct region key = {
		.process = process, .parent = parent, .name = name, .flags = flags};
	uint64_t hash = key_hash(table, &key);
	uint32_t id = hash_index_find(&table->index, hash, key_equal, table, &key);

	if (id != HASH_INDEX_NONE) {
		table->items.items[id].flags |= flags;
		return id;
	}
	if (table->items.count >= REGION_TABLE_MAX)
		return -ENOSPC;
	if (!array_reserve(&table->items, table->items.count + 1) ||
	    !hash_index_add(&table->index, hash, (uint32_t)table->items.count))
		return -ENOMEM;
	*array_add(&table->items) = key;
	return (int64_t)table->items.count - 1;
}

static void add(uint64_t *total, uint64_t more)
{
	if (__builtin_add_overflow(*total, more, total))
		*total = UINT64_MAX;
}

/* Within what bytes can say. */
static void add_growth(int64_t *total, int64_t more)
{
	const int64_t most = INT64_MAX / 1024;

	if (__builtin_add_overflow(*total, more, total))
		*total = more < 0 ? -most : most;
	*total = *total > most ? most : *total < -most ? -most : *total;
}

/* Before the counts are added: who has none has no limit either. */
static void add_over(struct region_sums *into, const struct region_sums *more)
{
	if (!more->count)
		return;
	if (!into->count)
		into->limit_ns = more->limit_ns;
	if (into->limit_ns == more->limit_ns && into->limit_ns != REGION_LIMITS_DIFFER) {
		add(&into->over, more->over);
		return;
	}
	into->limit_ns = REGION_LIMITS_DIFFER;
	into->over = 0;
}

static void region_sums_add(struct region_sums *into, const struct region_sums *more)
{
	add_over(into, more);
	add(&into->count, more->count);
	add(&into->lost_end, more->lost_end);
	add(&into->interleaved, more->interleaved);
	add(&into->unfinished, more->unfinished);
	add(&into->recursive, more->recursive);
	add(&into->unmeasured, more->unmeasured);
	add(&into->total_ns, more->total_ns);
	add(&into->self_ns, more->self_ns);
	if (more->max_ns > into->max_ns)
		into->max_ns = more->max_ns;
	add(&into->items, more->items);
	for (int i = 0; i < PKBPF_WAIT_STATES; i++)
		add(&into->part_ns[i], more->part_ns[i]);
	add(&into->minor_faults, more->minor_faults);
	add(&into->major_faults, more->major_faults);
	add(&into->read_bytes, more->read_bytes);
	add(&into->written_bytes, more->written_bytes);
	add(&into->rss_readings, more->rss_readings);
	add(&into->rss_sum_kib, more->rss_sum_kib);
	if (more->rss_max_kib > into->rss_max_kib)
		into->rss_max_kib = more->rss_max_kib;
	add_growth(&into->rss_growth_kib, more->rss_growth_kib);
}

uint64_t region_sums_undivided_ns(const struct region_sums *sums)
{
	uint64_t divided_ns = 0;

	for (int i = 0; i < PKBPF_WAIT_STATES; i++)
		add(&divided_ns, sums->part_ns[i]);
	return sums->total_ns > divided_ns ? sums->total_ns - divided_ns : 0;
}

static int merge_buckets(struct region *region, const struct region_bucket *more, size_t count)
{
	struct region_bucket *merged = malloc((region->bucket_count + count + 1) * sizeof(*merged));
	size_t old = 0, new = 0, to = 0;

	if (!merged)
		return -ENOMEM;
	while (old < region->bucket_count || new < count) {
		const struct region_bucket *a =
			old < region->bucket_count ? &region->buckets[old] : NULL;
		const struct region_bucket *b = new < count ? &more[new] : NULL;
		bool has_both = a && b && a->index == b->index;

		if (a && (!b || a->index <= b->index)) {
			merged[to] = *a;
			old++;
		} else {
			merged[to] = *b;
			new ++;
		}
		if (has_both) {
			add(&merged[to].count, b->count);
			new ++;
		}
		to++;
	}
	free(region->buckets);
	region->buckets = merged;
	region->bucket_count = to;
	return 0;
}

int region_table_add(struct region_table *table, uint32_t region, const struct region_sums *sums,
		     const struct region_bucket *buckets, size_t bucket_count)
{
	struct region *item = &table->items.items[region];

	region_sums_add(&item->sums, sums);
	return bucket_count ? merge_buckets(item, buckets, bucket_count) : 0;
}

const struct region *region_table_at(const struct region_table *table, size_t index)
{
	return index < table->items.count ? &table->items.items[index] : NULL;
}

size_t region_table_count(const struct region_table *table)
{
	return table->items.count;
}

void region_histogram(const struct region *region, struct histogram *into)
{
	for (size_t i = 0; i < region->bucket_count; i++) {
		const struct region_bucket *bucket = &region->buckets[i];

		if (bucket->index >= PKBPF_HISTOGRAM_BUCKETS)
			continue;
		add(&into->buckets[bucket->index], bucket->count);
		add(&into->count, bucket->count);
	}
	add(&into->sum, region->sums.total_ns);
	if (region->sums.max_ns > into->max)
		into->max = region->sums.max_ns;
}

uint64_t region_percentile_ns(const struct region *region, unsigned int permille)
{
	uint64_t count = 0, rank, seen = 0;

	for (size_t i = 0; i < region->bucket_count; i++)
		add(&count, region->buckets[i].count);
	rank = histogram_rank(count, permille);
	for (size_t i = 0; i < region->bucket_count; i++) {
		uint32_t index = region->buckets[i].index;
		uint64_t low, middle;

		add(&seen, region->buckets[i].count);
		if (seen < rank || index + 1 >= PKBPF_HISTOGRAM_BUCKETS)
			continue;
		low = histogram_bucket_low(index);
		middle = low + (histogram_bucket_high(index) - low) / 2;
		return middle < region->sums.max_ns ? middle : region->sums.max_ns;
	}
	return region->sums.max_ns;
}

/* ---- the account ---- */

static const struct recorded_column columns[] = {
	COLUMN(PROCESS, 1, struct region, process),
	COLUMN(PARENT, 2, struct region, parent),
	COLUMN(NAME, 3, struct region, name),
	COLUMN(NUMBER, 4, struct region, flags),
	COLUMN(NUMBER, 5, struct region, sums.count),
	COLUMN(NUMBER, 6, struct region, sums.lost_end),
	COLUMN(NUMBER, 7, struct region, sums.interleaved),
	COLUMN(NUMBER, 8, struct region, sums.unfinished),
	COLUMN(NUMBER, 9, struct region, sums.total_ns),
	COLUMN(NUMBER, 10, struct region, sums.max_ns),
	COLUMN(NUMBER, 11, struct region, sums.items),
	COLUMN(NUMBER, 12, struct region, sums.part_ns[PKBPF_WAIT_NONE]),
	COLUMN(NUMBER, 13, struct region, sums.part_ns[PKBPF_WAIT_RUNQUEUE]),
	COLUMN(NUMBER, 14, struct region, sums.part_ns[PKBPF_WAIT_SLEEP]),
	COLUMN(NUMBER, 15, struct region, sums.part_ns[PKBPF_WAIT_DISK]),
	COLUMN(NUMBER, 16, struct region, sums.part_ns[PKBPF_WAIT_UNINTERRUPTIBLE]),
	COLUMN(NUMBER, 17, struct region, sums.part_ns[PKBPF_WAIT_STOPPED]),
	COLUMN(NUMBER, 18, struct region, sums.minor_faults),
	COLUMN(NUMBER, 19, struct region, sums.major_faults),
	COLUMN(NUMBER, 20, struct region, sums.read_bytes),
	COLUMN(NUMBER, 21, struct region, sums.written_bytes),
	COLUMN(NUMBER, 22, struct region, bucket_count),
	COLUMN(NUMBER, 23, struct region, sums.recursive),
	COLUMN(NUMBER, 24, struct region, sums.unmeasured),
	COLUMN(NUMBER, 25, struct region, sums.self_ns),
	COLUMN(NUMBER, 26, struct region, sums.limit_ns),
	COLUMN(NUMBER, 27, struct region, sums.over),
	COLUMN(NUMBER, 28, struct region, sums.rss_readings),
	COLUMN(NUMBER, 29, struct region, sums.rss_sum_kib),
	COLUMN(NUMBER, 30, struct region, sums.rss_max_kib),
	COLUMN(SIGNED, 31, struct region, sums.rss_growth_kib),
};
/* The buckets are a table of their own: of each region, the next bucket_count. */
ALL_MEMBERS(struct region, 240);

static const struct recorded_column bucket_columns[] = {
	COLUMN(NUMBER, 1, struct region_bucket, index),
	COLUMN(NUMBER, 2, struct region_bucket, count),
};
ALL_MEMBERS(struct region_bucket, 16);

static bool next_bucket(const void *row, uint32_t place, size_t *cursor, void *ret_part)
{
	const struct region *region = row;

	(void)place;
	if (*cursor == region->bucket_count)
		return false;
	*(struct region_bucket *)ret_part = region->buckets[(*cursor)++];
	return true;
}

static bool are_buckets(const struct region_bucket *buckets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (buckets[i].index >= PKBPF_HISTOGRAM_BUCKETS ||
		    (i && buckets[i].index <= buckets[i - 1].index))
			return false;
	return true;
}

static int put_buckets(void *rows, size_t row_count, void *parts, size_t part_count)
{
	struct region_bucket *buckets = parts;
	struct region *regions = rows;

	for (size_t i = 0; i < row_count; i++) {
		if (regions[i].bucket_count > part_count ||
		    !are_buckets(buckets, regions[i].bucket_count))
			return -EBADMSG;
		regions[i].buckets = buckets;
		buckets += regions[i].bucket_count;
		part_count -= regions[i].bucket_count;
	}
	return 0;
}

static int64_t add_row(void *account, const void *row)
{
	const struct region *region = row;
	int64_t place = region_table_get(account, region->process, region->parent, region->name,
					 region->flags);
	int err = place < 0 ? (int)place
			    : region_table_add(account, (uint32_t)place, &region->sums,
					       region->buckets, region->bucket_count);

	return err ? err : place;
}

static int regroup(void *account, uint32_t (*group)(const void *context, uint32_t process),
		   const void *context)
{
	struct region_table *table = account, *fresh = region_table_new(), old = *table;
	uint32_t *places = malloc((table->items.count + 1) * sizeof(*places));
	int err = fresh && places ? 0 : -ENOMEM;

	for (size_t i = 0; i < table->items.count && !err; i++) {
		struct region copy = table->items.items[i];
		int64_t place;

		copy.process = group(context, copy.process);
		copy.parent = copy.parent == REGION_ROOT ? REGION_ROOT : places[copy.parent];
		place = add_row(fresh, &copy);
		err = place < 0 ? (int)place : 0;
		places[i] = (uint32_t)place;
	}
	free(places);
	if (!err) {
		*table = *fresh;
		*fresh = old;
	}
	region_table_free(fresh);
	return err;
}

static const struct account_parts region_buckets = {
	.recorded = RECORDED_TABLE(31, struct region_bucket, bucket_columns),
	.next = next_bucket,
	.put = put_buckets,
};

static const struct account_table table_of_regions = {
	.recorded = RECORDED_TABLE(30, struct region, columns),
	.rows = ACCOUNT_ROWS(struct region_table, items),
	.parts = &region_buckets,
	.add = add_row,
	.no_room = PKBPF_COUNTER_MERGE_TOO_MANY,
};

const struct account_ops account_ops_regions = {
	.size = sizeof(struct region_table),
	.init = init,
	.done = done,
	.tables = &table_of_regions,
	.table_count = 1,
	.regroup = regroup,
};
