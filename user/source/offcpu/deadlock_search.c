// SPDX-License-Identifier: BSD-2-Clause
#include "source/offcpu/deadlock_search.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"

#define NONE SIZE_MAX

/* Each thread waits for at most one other: a walk along the owners ends, or gets into a cycle. */
struct search {
	const struct lock_wait *waits;
	size_t count;
	size_t *next;  /* thread that it waits for; NONE: one that runs, or is not known */
	size_t *cycle; /* first thread of the cycle that the walk from here gets into; NONE */
	size_t *walk;  /* 1 + number of the walk that has been here; 0: none */
	const struct lock_wait **threads;
};

static int compare_waits(const void *left, const void *right)
{
	const struct lock_wait *a = left, *b = right;

	if (a->space != b->space)
		return a->space < b->space ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static size_t find_owner(const struct search *search, const struct lock_wait *wait)
{
	const struct lock_wait wanted = {.space = wait->space, .number = wait->owner};
	const struct lock_wait *found = bsearch(&wanted, search->waits, search->count,
						sizeof(*search->waits), compare_waits);

	return found ? (size_t)(found - search->waits) : NONE;
}

/* Follows the owners from a thread where no walk has been. Returns the first thread of the cycle
 * that it gets into, a new one or a known one; NONE. */
static size_t walk_from(struct search *search, size_t start)
{
	size_t at = start, first;

	while (at != NONE && !search->walk[at]) {
		search->walk[at] = start + 1;
		at = search->next[at];
	}
	if (at == NONE || search->walk[at] != start + 1)
		return at == NONE ? NONE : search->cycle[at];
	first = at;
	for (size_t each = search->next[at]; each != at; each = search->next[each])
		if (search->waits[each].tid < search->waits[first].tid)
			first = each;
	return first;
}

static void find_cycles(struct search *search)
{
	for (size_t start = 0; start < search->count; start++) {
		size_t first;

		if (search->walk[start])
			continue;
		first = walk_from(search, start);
		for (size_t at = start;
		     at != NONE && search->walk[at] == start + 1 && search->cycle[at] == NONE;
		     at = search->next[at])
			search->cycle[at] = first;
	}
}

static void report(const struct search *search, deadlock_fn *take, void *context)
{
	size_t *in_all = search->walk; /* threads that get into the cycle of this first one */

	for (size_t i = 0; i < search->count; i++)
		in_all[i] = 0;
	for (size_t i = 0; i < search->count; i++)
		if (search->cycle[i] != NONE)
			in_all[search->cycle[i]]++;
	for (size_t first = 0; first < search->count; first++) {
		size_t count = 0, at = first;

		if (search->cycle[first] != first)
			continue;
		do {
			search->threads[count++] = &search->waits[at];
			at = search->next[at];
		} while (at != first);
		take(context, search->threads, count, in_all[first] - count);
	}
}

int deadlocks_find(struct lock_wait *waits, size_t count, deadlock_fn *take, void *context)
{
	_cleanup_free_ size_t *numbers = calloc(3 * count + 1, sizeof(*numbers));
	_cleanup_free_ const struct lock_wait **threads = calloc(count + 1, sizeof(*threads));
	struct search search = {
		.waits = waits,
		.count = count,
		.next = numbers,
		.cycle = numbers + count,
		.walk = numbers + 2 * count,
		.threads = threads,
	};

	if (!numbers || !threads)
		return -ENOMEM;
	if (count)
		qsort(waits, count, sizeof(*waits), compare_waits);
	for (size_t i = 0; i < count; i++) {
		search.next[i] = find_owner(&search, &waits[i]);
		search.cycle[i] = NONE;
	}
	find_cycles(&search);
	report(&search, take, context);
	return 0;
}
