// SPDX-License-Identifier: BSD-2-Clause
/* Finds the region that stands for a row: of those outside of all others, the one with the most
 * wall time. */
#include <errno.h>

#include "rows/resource_rows_work.h"

struct outermost {
	const struct rows_work *work;
	struct hash_map places; /* row, name -> in sums */
	ARRAY_OF(struct row_region) sums;
};

static void add(uint64_t *total, uint64_t more)
{
	if (__builtin_add_overflow(*total, more, total))
		*total = UINT64_MAX;
}

/* A name may be in several processes of a row, and be begun by scope and by number. */
static struct row_region *sum_of(struct outermost *outermost, uint32_t row, uint32_t name)
{
	const struct profile *profile = outermost->work->profile;
	struct row_region *sum;
	uint64_t *place;
	bool added;

	place = hash_map_get(&outermost->places, (uint64_t)row << 32 | name, outermost->sums.count,
			     &added);
	if (!place || !added)
		return place ? &outermost->sums.items[*place] : NULL;
	sum = array_add(&outermost->sums);
	if (sum)
		*sum = (struct row_region){
			.name = profile_string(profile, name),
			.missed_ns = region_gaps_of(profile_region_gaps(profile), name)};
	return sum;
}

static int add_region(struct outermost *outermost, const struct region *region)
{
	uint32_t row = rows_work_find_row(outermost->work, region->process);
	struct row_region *sum, *best;

	if (row == NO_ROW)
		return 0;
	sum = sum_of(outermost, row, region->name);
	if (!sum)
		return -ENOMEM;
	add(&sum->wall_ns, region->sums.total_ns);
	add(&sum->count, region->sums.count);
	best = &outermost->work->items.items[row].region;
	if (!best->name || sum->wall_ns > best->wall_ns || sum->name == best->name)
		*best = *sum;
	return 0;
}

int rows_work_add_outermost(struct rows_work *work)
{
	const struct region_table *table = profile_regions(work->profile);
	struct outermost outermost = {.work = work};
	int err = 0;

	for (size_t i = 0; i < region_table_count(table) && !err; i++) {
		const struct region *region = region_table_at(table, i);

		if (region->parent == REGION_ROOT && region->sums.count &&
		    !(region->flags & PKBPF_REGION_REQUEST))
			err = add_region(&outermost, region);
	}
	hash_map_done(&outermost.places);
	array_free(&outermost.sums);
	return err;
}
