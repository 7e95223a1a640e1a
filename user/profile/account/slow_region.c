// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the slowest of any number of regions and calls. */
#include "profile/account/slow_region.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/largest.h"
#include "profile/account/account.h"

struct slow_region_list {
	struct largest slowest;
	ARRAY_OF(struct slow_region) items; /* by their slot */
};

void slow_region_list_limit(struct slow_region_list *list, size_t limit)
{
	list->slowest.limit = limit;
}

size_t slow_region_list_max(const struct slow_region_list *list)
{
	return list->slowest.limit;
}

int slow_region_list_add(struct slow_region_list *list, const struct slow_region *slow_region)
{
	size_t slot;
	int kept;

	/* Reserved first, so that every slot has its place. */
	if (!array_reserve(&list->items, list->items.count + 1))
		return -ENOMEM;
	kept = largest_add(&list->slowest, slow_region->wall_ns, &slot);
	if (kept <= 0)
		return kept;
	if (slot == list->items.count)
		array_add(&list->items);
	list->items.items[slot] = *slow_region;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct slow_region *a = *(const struct slow_region *const *)left,
				 *b = *(const struct slow_region *const *)right;
	uint64_t a_ns = a->wall_ns, b_ns = b->wall_ns;

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

int slow_region_list_sorted(const struct slow_region_list *list,
			    const struct slow_region ***ret_items, size_t *ret_count)
{
	size_t count = list->items.count;
	const struct slow_region **items = calloc(count + 1, sizeof(struct slow_region *));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		items[i] = &list->items.items[i];
	qsort(items, count, sizeof(struct slow_region *), compare);
	*ret_items = items;
	*ret_count = count;
	return 0;
}

/* ---- the account ---- */

static const struct recorded_column columns[] = {
	COLUMN(PROCESS, 1, struct slow_region, process),
	COLUMN(NUMBER, 2, struct slow_region, tid),
	COLUMN(NAME, 3, struct slow_region, comm),
	COLUMN(NAME, 4, struct slow_region, name),
	COLUMN(STACK, 5, struct slow_region, stack),
	COLUMN(NUMBER, 6, struct slow_region, flags),
	COLUMN(NUMBER, 7, struct slow_region, cgroup_id),
	COLUMN(TIME, 8, struct slow_region, start_ns),
	COLUMN(NUMBER, 9, struct slow_region, wall_ns),
	COLUMN(NUMBER, 10, struct slow_region, part_ns[PKBPF_WAIT_NONE]),
	COLUMN(NUMBER, 11, struct slow_region, part_ns[PKBPF_WAIT_RUNQUEUE]),
	COLUMN(NUMBER, 12, struct slow_region, part_ns[PKBPF_WAIT_SLEEP]),
	COLUMN(NUMBER, 13, struct slow_region, part_ns[PKBPF_WAIT_DISK]),
	COLUMN(NUMBER, 14, struct slow_region, part_ns[PKBPF_WAIT_UNINTERRUPTIBLE]),
	COLUMN(NUMBER, 15, struct slow_region, part_ns[PKBPF_WAIT_STOPPED]),
};
ALL_MEMBERS(struct slow_region, 96);

static int64_t add_row(void *account, const void *row)
{
	return slow_region_list_add(account, row);
}

static void join(void *account, const void *other)
{
	if (slow_region_list_max(other) > slow_region_list_max(account))
		slow_region_list_limit(account, slow_region_list_max(other));
}

static void done(void *account)
{
	struct slow_region_list *list = account;

	largest_done(&list->slowest);
	array_free(&list->items);
}

static const struct account_table table = {
	.recorded = RECORDED_TABLE(32, struct slow_region, columns),
	.rows = ACCOUNT_ROWS(struct slow_region_list, items),
	.add = add_row,
};

const struct account_ops account_ops_slow_regions = {
	.size = sizeof(struct slow_region_list),
	.done = done,
	.tables = &table,
	.table_count = 1,
	.join = join,
};
