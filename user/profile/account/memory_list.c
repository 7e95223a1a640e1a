// SPDX-License-Identifier: BSD-2-Clause
/* Keeps memory of processes over time. */
#include "profile/account/memory_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/account/account.h"

static int by_process_and_time(const void *left, const void *right)
{
	const struct memory_point *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* The first and the last of `count` points of a process stay, of the others the larger of each
 * pair. Returns how many are left. */
static size_t thin_points(struct memory_point *points, size_t count)
{
	size_t kept = 1;

	for (size_t i = 1; i + 1 < count; i += 2) {
		const struct memory_point *a = &points[i], *b = &points[i + 1];

		points[kept++] =
			i + 2 == count || memory_point_rss(b) >= memory_point_rss(a) ? *b : *a;
	}
	/* A last one that made no pair. */
	if (count > 1 && count % 2 == 0)
		points[kept++] = points[count - 1];
	return kept;
}

/* Fewer points of each process, so that those that come have room. */
static void thin_list(struct memory_list *list)
{
	struct memory_point *points = list->items.items;
	size_t count = list->items.count, kept = 0;

	qsort(points, count, sizeof(*points), by_process_and_time);
	for (size_t first = 0, end; first < count; first = end) {
		size_t left;

		for (end = first + 1; end < count && points[end].pid == points[first].pid; end++)
			;
		left = thin_points(points + first, end - first);
		memmove(points + kept, points + first, left * sizeof(*points));
		kept += left;
	}
	list->items.count = kept;
	list->is_full = kept > MEMORY_POINTS_MAX / 4 * 3;
}

int memory_list_add(struct memory_list *list, const struct memory_point *point)
{
	struct memory_point *item;

	if (list->items.count >= MEMORY_POINTS_MAX && !list->is_full)
		thin_list(list);
	if (list->items.count >= MEMORY_POINTS_MAX)
		return -ENOSPC;
	item = array_add(&list->items);
	if (!item)
		return -ENOMEM;
	*item = *point;
	return 0;
}

static bool says_same(const struct memory_point *a, const struct memory_point *b)
{
	return a->anonymous == b->anonymous && a->file == b->file && a->shared == b->shared &&
	       a->swap == b->swap && a->peak == b->peak;
}

void memory_series_add(struct memory_series *series, const struct memory_point *point)
{
	bool repeats = series->count && says_same(&series->points[series->count - 1], point);

	/* Of a time without change, its ends. */
	if (repeats && series->repeats) {
		series->points[series->count - 1] = *point;
		return;
	}
	series->repeats = repeats;
	if (series->count == MEMORY_SERIES_POINTS)
		series->count = thin_points(series->points, series->count);
	series->points[series->count++] = *point;
}

/* ---- the account ---- */

static const struct recorded_column columns[] = {
	COLUMN(PID, 1, struct memory_point, pid),
	COLUMN(NUMBER, 2, struct memory_point, regions),
	COLUMN(TEXT, 3, struct memory_point, comm),
	COLUMN(TIME_STEP, 4, struct memory_point, time_ns),
	COLUMN(NUMBER, 5, struct memory_point, anonymous),
	COLUMN(NUMBER, 6, struct memory_point, file),
	COLUMN(NUMBER, 7, struct memory_point, shared),
	COLUMN(NUMBER, 8, struct memory_point, swap),
	COLUMN(NUMBER, 9, struct memory_point, peak),
};
ALL_MEMBERS(struct memory_point, 80);

static int64_t add_row(void *account, const void *row)
{
	return memory_list_add(account, row);
}

static void done(void *account)
{
	struct memory_list *list = account;

	array_free(&list->items);
}

static const struct account_table table = {
	.recorded = RECORDED_TABLE(65, struct memory_point, columns),
	.rows = ACCOUNT_ROWS(struct memory_list, items),
	.add = add_row,
	.no_room = PKBPF_COUNTER_MERGE_TOO_MANY,
};

const struct account_ops account_ops_memory = {
	.size = sizeof(struct memory_list),
	.done = done,
	.tables = &table,
	.table_count = 1,
};
