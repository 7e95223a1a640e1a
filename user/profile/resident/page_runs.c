// SPDX-License-Identifier: BSD-2-Clause
/* Ranges of addresses as a sorted array. */
#include "profile/resident/page_runs.h"

#include <errno.h>
#include <stdlib.h>

void page_runs_done(struct page_runs *runs)
{
	array_free(&runs->items);
}

int page_runs_add(struct page_runs *runs, uint64_t start, uint64_t end)
{
	struct page_run *last =
		runs->items.count ? &runs->items.items[runs->items.count - 1] : NULL;

	if (last && start < last->end)
		start = last->end;
	if (start >= end)
		return 0;
	if (last && last->end == start) {
		last->end = end;
		return 0;
	}
	last = array_add(&runs->items);
	if (!last)
		return -ENOMEM;
	*last = (struct page_run){start, end};
	return 0;
}

bool page_runs_have(const struct page_runs *runs, uint64_t address)
{
	size_t low = 0, high = runs->items.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (runs->items.items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < runs->items.count && runs->items.items[low].start <= address;
}

static int compare(const void *a, const void *b)
{
	const struct page_run *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

int page_runs_cut(struct page_runs *runs, uint64_t start, uint64_t end)
{
	size_t count = runs->items.count, kept = 0;
	struct page_run rest = {0};

	for (size_t i = 0; i < count; i++) {
		struct page_run run = runs->items.items[i];

		if (run.start < start && run.end > end)
			rest = (struct page_run){end, run.end};
		if (run.start < start && run.end > start)
			run.end = start;
		else if (run.start >= start && run.start < end)
			run.start = run.end > end ? end : run.end;
		if (run.start < run.end)
			runs->items.items[kept++] = run;
	}
	runs->items.count = kept;
	if (rest.start < rest.end) {
		struct page_run *added = array_add(&runs->items);

		if (!added)
			return -ENOMEM;
		*added = rest;
		qsort(runs->items.items, runs->items.count, sizeof(*added), compare);
	}
	return 0;
}

/* Adds what lies in a range to moved, as it is at its new place. */
static int copy_moved(const struct page_runs *runs, uint64_t from, uint64_t length, uint64_t to,
		      struct page_runs *moved)
{
	int err = 0;

	array_foreach(&runs->items, run) {
		uint64_t start = run->start > from ? run->start : from;
		uint64_t end = run->end < from + length ? run->end : from + length;

		if (start < end && !err)
			err = page_runs_add(moved, start - from + to, end - from + to);
	}
	return err;
}

/* Adds runs that do not touch those that are there. */
static int append(struct page_runs *runs, const struct page_runs *more)
{
	array_foreach(&more->items, run) {
		struct page_run *added = array_add(&runs->items);

		if (!added)
			return -ENOMEM;
		*added = *run;
	}
	if (more->items.count)
		qsort(runs->items.items, runs->items.count, sizeof(struct page_run), compare);
	return 0;
}

int page_runs_move(struct page_runs *runs, uint64_t from, uint64_t length, uint64_t to)
{
	struct page_runs moved = {0};
	int err = copy_moved(runs, from, length, to, &moved);

	err = err ? err : page_runs_cut(runs, from, from + length);
	err = err ? err : page_runs_cut(runs, to, to + length);
	err = err ? err : append(runs, &moved);
	page_runs_done(&moved);
	return err;
}
