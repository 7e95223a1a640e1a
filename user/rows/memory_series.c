// SPDX-License-Identifier: BSD-2-Clause
/* Puts the points of each process together, and finds the highest. */
#include "rows/memory_series.h"

#include <errno.h>
#include <stdlib.h>

static int by_process_and_time(const void *a, const void *b)
{
	const struct memory_point *left = *(const struct memory_point *const *)a;
	const struct memory_point *right = *(const struct memory_point *const *)b;

	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left < right ? -1 : left > right;
}

static int by_peak(const void *a, const void *b)
{
	const struct memory_row *left = a, *right = b;

	if (left->peak_bytes != right->peak_bytes)
		return left->peak_bytes < right->peak_bytes ? 1 : -1;
	return left->points < right->points ? -1 : 1;
}

/* The kernel's peak is exact, its time is that of the first point that knows it. */
static void find_peak(struct memory_row *row)
{
	for (size_t i = 0; i < row->count; i++) {
		const struct memory_point *point = row->points[i];
		uint64_t rss = memory_point_rss(point);
		uint64_t peak = point->peak > rss ? point->peak : rss;

		if (peak <= row->peak_bytes)
			continue;
		row->peak_bytes = peak;
		/* A first point below its peak tells of a time before it. */
		row->peak_at_ns = i == 0 && rss < peak ? 0 : point->time_ns;
	}
}

static void add_up(struct memory_row *row)
{
	for (size_t i = 1; i < row->count; i++) {
		const struct memory_point *before = row->points[i - 1], *point = row->points[i];

		row->byte_ns += (double)(memory_point_rss(before) + memory_point_rss(point)) / 2 *
				(double)(point->time_ns - before->time_ns);
	}
}

/* Slices share the point between them. */
static size_t drop_repeated(const struct memory_point **points, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!kept || points[kept - 1]->pid != points[i]->pid ||
		    points[kept - 1]->time_ns != points[i]->time_ns)
			points[kept++] = points[i];
	return kept;
}

int memory_rows_make(const struct profile *profile, struct memory_rows *ret_rows)
{
	const struct memory_list *list = profile_memory(profile);
	size_t count = 0;

	ret_rows->count = 0;
	ret_rows->items = calloc(list->items.count + 1, sizeof(*ret_rows->items));
	ret_rows->points = calloc(list->items.count + 1, sizeof(*ret_rows->points));
	if (!ret_rows->items || !ret_rows->points)
		return -ENOMEM;
	array_foreach(&list->items, point)
		ret_rows->points[count++] = point;
	qsort(ret_rows->points, count, sizeof(*ret_rows->points), by_process_and_time);
	count = drop_repeated(ret_rows->points, count);
	for (size_t i = 0; i < count; i++) {
		if (!i || ret_rows->points[i]->pid != ret_rows->points[i - 1]->pid)
			ret_rows->items[ret_rows->count++].points = &ret_rows->points[i];
		ret_rows->items[ret_rows->count - 1].count++;
	}
	for (size_t i = 0; i < ret_rows->count; i++) {
		find_peak(&ret_rows->items[i]);
		add_up(&ret_rows->items[i]);
	}
	qsort(ret_rows->items, ret_rows->count, sizeof(*ret_rows->items), by_peak);
	return 0;
}

void memory_rows_done(struct memory_rows *rows)
{
	free(rows->items);
	free(rows->points);
}
