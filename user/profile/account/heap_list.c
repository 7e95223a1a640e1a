// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the places of allocation of heaps. */
#include "profile/account/heap_list.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Below this many samples, the interval is that of the number of points of a Poisson process. */
#define FEW_SAMPLES 10

void heap_list_done(struct heap_list *list)
{
	array_free(&list->items);
}

/* Allocated bytes that say as much as one that is alive. */
#define ALLOCATED_PER_LIVE 1000

static int compare_worth(const void *left, const void *right)
{
	const struct heap_place *a = left, *b = right;
	uint64_t a_bytes = a->live.bytes + a->allocated.bytes / ALLOCATED_PER_LIVE;
	uint64_t b_bytes = b->live.bytes + b->allocated.bytes / ALLOCATED_PER_LIVE;

	if (a->trend != b->trend)
		return a->trend > b->trend ? -1 : 1;
	if (a_bytes != b_bytes)
		return a_bytes > b_bytes ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

int heap_list_add(struct heap_list *list, const struct heap_place *place)
{
	struct heap_place *item;

	/* Processes that end without end must leave room for those that go on. */
	if (list->items.count >= HEAP_PLACES_MAX) {
		qsort(list->items.items, list->items.count, sizeof(*item), compare_worth);
		list->items.count = HEAP_PLACES_MAX / 2;
	}
	item = array_add(&list->items);
	if (!item)
		return -ENOMEM;
	*item = *place;
	return 0;
}

void heap_list_renumber(struct heap_list *list, const uint32_t *numbers)
{
	array_foreach(&list->items, place)
		place->stack = numbers[place->stack];
}

/* Half widths of the exact 95 % interval above n, in parts of sqrt(n): 5.57 for 1, 7.22 for 2 …
 * (Garwood 1936). */
static double widened(uint64_t samples)
{
	static const double upper[FEW_SAMPLES] = {3.69,	 5.57,	7.22,  8.77,  10.24,
						  11.67, 13.06, 14.42, 15.76, 17.08};

	return (upper[samples] - (double)samples) / sqrt((double)samples);
}

struct heap_estimate heap_estimate_of(const struct heap_sum *sum)
{
	double sigmas = sum->samples && sum->samples < FEW_SAMPLES ? widened(sum->samples) : 1.96;

	return (struct heap_estimate){
		.bytes = (uint64_t)(sum->bytes + 0.5),
		.error_bytes = (uint64_t)(sigmas * sqrt(sum->variance > 0 ? sum->variance : 0)),
		.objects = (uint64_t)(sum->objects + 0.5),
		.samples = sum->samples,
	};
}
