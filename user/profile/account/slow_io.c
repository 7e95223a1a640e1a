// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the slowest of any number of block requests. */
#include "profile/account/slow_io.h"

#include <errno.h>
#include <stdlib.h>

#include <pkbpf/profile_kind.h>

#include "base/array.h"
#include "base/largest.h"
#include "profile/account/account.h"

struct slow_io_list {
	struct largest slowest;
	ARRAY_OF(struct slow_io) items; /* by their slot */
};

void slow_io_list_limit(struct slow_io_list *list, size_t limit)
{
	list->slowest.limit = limit;
}

size_t slow_io_list_max(const struct slow_io_list *list)
{
	return list->slowest.limit;
}

uint64_t slow_io_total_ns(const struct slow_io *slow_io)
{
	return slow_io->queue_ns + slow_io->device_ns;
}

int slow_io_list_add(struct slow_io_list *list, const struct slow_io *slow_io)
{
	size_t slot;
	int kept;

	/* Reserved first, so that every slot has its place. */
	if (!array_reserve(&list->items, list->items.count + 1))
		return -ENOMEM;
	kept = largest_add(&list->slowest, slow_io_total_ns(slow_io), &slot);
	if (kept <= 0)
		return kept;
	if (slot == list->items.count)
		array_add(&list->items);
	list->items.items[slot] = *slow_io;
	return 0;
}

const struct slow_io *slow_io_list_at(const struct slow_io_list *list, size_t index)
{
	return index < list->items.count ? &list->items.items[index] : NULL;
}

static int compare(const void *left, const void *right)
{
	const struct slow_io *a = *(const struct slow_io *const *)left,
			     *b = *(const struct slow_io *const *)right;
	uint64_t a_ns = slow_io_total_ns(a), b_ns = slow_io_total_ns(b);

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	return a->insert_ns < b->insert_ns ? -1 : a->insert_ns > b->insert_ns;
}

int slow_io_list_sorted(const struct slow_io_list *list, const struct slow_io ***ret_items,
			size_t *ret_count)
{
	size_t count = list->items.count;
	const struct slow_io **items = calloc(count + 1, sizeof(struct slow_io *));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		items[i] = &list->items.items[i];
	qsort(items, count, sizeof(struct slow_io *), compare);
	*ret_items = items;
	*ret_count = count;
	return 0;
}

/* ---- the account ---- */

static const struct recorded_column columns[] = {
	COLUMN(PROCESS, 1, struct slow_io, process),
	COLUMN(NUMBER, 2, struct slow_io, tid),
	COLUMN(NAME, 3, struct slow_io, comm),
	COLUMN(STACK, 4, struct slow_io, stack),
	COLUMN(DEVICE, 5, struct slow_io, device),
	COLUMN(NUMBER, 6, struct slow_io, bytes),
	COLUMN(NUMBER, 7, struct slow_io, state),
	COLUMN(FLAG, 8, struct slow_io, open),
	COLUMN(FLAG, 9, struct slow_io, failed),
	COLUMN(FLAG, 10, struct slow_io, fua),
	COLUMN(FLAG, 11, struct slow_io, metadata),
	COLUMN(NUMBER, 12, struct slow_io, cgroup_id),
	COLUMN(TIME, 13, struct slow_io, insert_ns),
	COLUMN(NUMBER, 14, struct slow_io, queue_ns),
	COLUMN(NUMBER, 15, struct slow_io, device_ns),
	COLUMN(NUMBER, 16, struct slow_io, sector),
};
ALL_MEMBERS(struct slow_io, 72);

static int64_t add_row(void *account, const void *row)
{
	return slow_io_list_add(account, row);
}

static void join(void *account, const void *other)
{
	if (slow_io_list_max(other) > slow_io_list_max(account))
		slow_io_list_limit(account, slow_io_list_max(other));
}

static void done(void *account)
{
	struct slow_io_list *list = account;

	largest_done(&list->slowest);
	array_free(&list->items);
}

static const struct account_table table = {
	.recorded = RECORDED_TABLE(18, struct slow_io, columns),
	.rows = ACCOUNT_ROWS(struct slow_io_list, items),
	.kinds_mask = 1U << PKBPF_PROFILE_BLOCKIO,
	.add = add_row,
};

const struct account_ops account_ops_slow_io = {
	.size = sizeof(struct slow_io_list),
	.done = done,
	.tables = &table,
	.table_count = 1,
	.join = join,
};
