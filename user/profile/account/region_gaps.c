// SPDX-License-Identifier: BSD-2-Clause
#include "profile/account/region_gaps.h"

#include <errno.h>

#include "profile/account/account.h"

int region_gaps_add(struct region_gaps *gaps, const struct region_gap *gap)
{
	const uint64_t *place = hash_map_find(&gaps->places, gap->name);
	uint64_t *missed_ns;

	if (!place) {
		if (gaps->items.count >= REGION_GAPS_MAX)
			return -ENOSPC;
		if (!array_reserve(&gaps->items, gaps->items.count + 1) ||
		    !hash_map_put(&gaps->places, gap->name, gaps->items.count))
			return -ENOMEM;
		*array_add(&gaps->items) = *gap;
		return 0;
	}
	missed_ns = &gaps->items.items[*place].missed_ns;
	if (__builtin_add_overflow(*missed_ns, gap->missed_ns, missed_ns))
		*missed_ns = UINT64_MAX;
	return 0;
}

uint64_t region_gaps_of(const struct region_gaps *gaps, uint32_t name)
{
	const uint64_t *place = hash_map_find(&gaps->places, name);

	return place ? gaps->items.items[*place].missed_ns : 0;
}

/* ---- the account ---- */

static const struct recorded_column columns[] = {
	COLUMN(NAME, 1, struct region_gap, name),
	COLUMN(NUMBER, 2, struct region_gap, missed_ns),
};
ALL_MEMBERS(struct region_gap, 16);

static int64_t add_row(void *account, const void *row)
{
	return region_gaps_add(account, row);
}

static void done(void *account)
{
	struct region_gaps *gaps = account;

	array_free(&gaps->items);
	hash_map_done(&gaps->places);
}

static const struct account_table table = {
	.recorded = RECORDED_TABLE(79, struct region_gap, columns),
	.rows = ACCOUNT_ROWS(struct region_gaps, items),
	.add = add_row,
	.no_room = PKBPF_COUNTER_MERGE_TOO_MANY,
};

const struct account_ops account_ops_region_gaps = {
	.size = sizeof(struct region_gaps),
	.done = done,
	.tables = &table,
	.table_count = 1,
};
