// SPDX-License-Identifier: BSD-2-Clause
/* Keeps memory of processes over time. */
#include "profile/account/memory_list.h"

#include <errno.h>

void memory_list_done(struct memory_list *list)
{
	array_free(&list->items);
}

int memory_list_add(struct memory_list *list, const struct memory_point *point)
{
	struct memory_point *item;

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

/* The first and the last point stay. */
static void thin(struct memory_series *series)
{
	size_t kept = 1;

	for (size_t i = 1; i + 1 < series->count; i += 2) {
		const struct memory_point *a = &series->points[i], *b = &series->points[i + 1];

		series->points[kept++] =
			i + 2 == series->count || memory_point_rss(b) >= memory_point_rss(a) ? *b
											     : *a;
	}
	series->count = kept;
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
		thin(series);
	series->points[series->count++] = *point;
}
