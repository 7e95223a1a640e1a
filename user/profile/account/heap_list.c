// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the places of allocation of heaps. */
#include "profile/account/heap_list.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "profile/account/account.h"

/* Below this many samples, the interval is that of the number of points of a Poisson process. */
#define FEW_SAMPLES 10

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

/* ---- the account ---- */

#define ESTIMATE(first, member)                                                                    \
	COLUMN(NUMBER, (first), struct heap_place, member.bytes),                                  \
		COLUMN(NUMBER, (first) + 1, struct heap_place, member.error_bytes),                \
		COLUMN(NUMBER, (first) + 2, struct heap_place, member.objects),                    \
		COLUMN(NUMBER, (first) + 3, struct heap_place, member.samples)

static const struct recorded_column columns[] = {
	COLUMN(PID, 1, struct heap_place, pid),
	COLUMN(STACK, 2, struct heap_place, stack),
	COLUMN(TEXT, 3, struct heap_place, comm),
	COLUMN(NUMBER, 4, struct heap_place, trend),
	ESTIMATE(5, allocated),
	ESTIMATE(9, live),
	COLUMN(NUMBER, 13, struct heap_place, brief_bytes),
	COLUMN(NUMBER, 14, struct heap_place, at_peak_bytes),
	COLUMN(NUMBER, 15, struct heap_place, growth_bytes),
	COLUMN(NUMBER, 16, struct heap_place, growth_error_bytes),
	COLUMN(NUMBER, 17, struct heap_place, growth_per_second),
	COLUMN(NUMBER, 18, struct heap_place, stays_permille),
	COLUMN(NUMBER, 19, struct heap_place, peak_bytes),
	COLUMN(TIME, 20, struct heap_place, peak_ns),
	COLUMN(NUMBER, 21, struct heap_place, mean_bytes),
};
ALL_MEMBERS(struct heap_place, 168);

static int64_t add_row(void *account, const void *row)
{
	return heap_list_add(account, row);
}

static bool is_valid(const void *row)
{
	const struct heap_place *place = row;

	return place->trend < HEAP_TRENDS;
}

static void done(void *account)
{
	struct heap_list *list = account;

	array_free(&list->items);
}

static const struct account_table table = {
	.recorded = RECORDED_TABLE(64, struct heap_place, columns),
	.rows = ACCOUNT_ROWS(struct heap_list, items),
	.add = add_row,
	.is_valid = is_valid,
};

const struct account_ops account_ops_heaps = {
	.size = sizeof(struct heap_list),
	.done = done,
	.tables = &table,
	.table_count = 1,
};
