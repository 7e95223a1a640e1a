// SPDX-License-Identifier: BSD-2-Clause
/* Scales the weights of page-fault stacks to the exact number of each process. */
#include "profile/fault_counts.h"

#include <errno.h>
#include <stdlib.h>

#include <pkbpf/faults.h>

/* The sum of samples is off by a few times the square root of the sum of what each stands for, squared, and of one more of the largest. */
#define SAMPLING_ERRORS 6
/* Of the exact number: what begins or ends with the interval, and what was lost. */
#define UNSEEN_SHARE 10

static int add_faults(struct profile *profile, const struct distribution *exact, uint32_t stack, uint64_t count)
{
	const struct process *process =
		process_table_by_id(profile_processes(profile), exact->key.process);
	struct profile_row row = {
		.kind = PKBPF_PROFILE_FAULTS,
		.process = exact->key.process,
		.tid = PROFILE_NO_THREAD,
		.comm = profile_intern_string(profile, process ? process->comm : ""),
		.stack = stack,
		.state = exact->key.state,
		.count = count,
		.weight = count,
	};

	if (row.comm == UINT32_MAX || row.stack == UINT32_MAX)
		return -ENOMEM;
	return profile_add(profile, &row);
}

static int add_without_stack(struct profile *profile, const struct distribution *exact)
{
	return add_faults(profile, exact, profile_intern_stack(profile, NULL, 0), exact->count);
}

static const struct frame_location unannounced = {.space = FRAME_TRUNCATED, .address = PKBPF_END_UNANNOUNCED};

/* Pages that the kernel fetches for itself (mlock(), MAP_POPULATE, direct I/O) it counts for the thread, but announces to nobody. */
static int add_unannounced(struct profile *profile, const struct distribution *exact, uint64_t count)
{
	uint32_t frame = profile_intern_frame(profile, &unannounced);

	if (frame == UINT32_MAX)
		return -ENOMEM;
	return add_faults(profile, exact, profile_intern_stack(profile, &frame, 1), count);
}

bool profile_fault_was_sampled(const struct profile *profile, const struct profile_row *row)
{
	size_t count;
	const uint32_t *frames = profile_stack(profile, row->stack, &count);
	const struct frame_location *leaf = count ? &profile_frame(profile, frames[0])->location : NULL;

	return leaf && !(leaf->space == unannounced.space && leaf->address == unannounced.address);
}

/* A process, with all programs it has been, or a group of them; and what kind of fault. */
struct fault_owner {
	uint64_t number; /* pid, or id of a group or of what is not known */
	uint64_t born_ns;
	uint8_t state;
};

/* Where a row stands in profile_rows(), or a number among the distributions, and whose faults it counts. */
struct fault_item {
	struct fault_owner owner;
	uint32_t place;
};

struct fault_items {
	struct fault_item *items;
	size_t count;
};

static struct fault_owner owner_of(struct profile *profile, uint32_t id, uint8_t state)
{
	const struct process *process = process_table_by_id(profile_processes(profile), id);
	struct fault_owner owner = {.number = 1ULL << 32 | id, .state = state & PKBPF_FAULT_MASK};

	if (process && !process->members) {
		owner.number = process->pid;
		owner.born_ns = process->born_ns;
	}
	return owner;
}

static int compare_owners(const struct fault_owner *a, const struct fault_owner *b)
{
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->born_ns != b->born_ns)
		return a->born_ns < b->born_ns ? -1 : 1;
	return (int)a->state - (int)b->state;
}

static int compare_items(const void *left, const void *right)
{
	const struct fault_item *a = left, *b = right;
	int order = compare_owners(&a->owner, &b->owner);

	return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* Rows of page faults by owner, in the order they have. */
static int find_rows(struct profile *profile, struct fault_items *ret_rows)
{
	size_t row_count;
	const struct profile_row *rows = profile_rows(profile, &row_count);

	ret_rows->items = malloc((row_count + 1) * sizeof(*ret_rows->items));
	if (!ret_rows->items)
		return -ENOMEM;
	for (size_t i = 0; i < row_count; i++) {
		if (rows[i].kind == PKBPF_PROFILE_FAULTS)
			ret_rows->items[ret_rows->count++] =
				(struct fault_item){owner_of(profile, rows[i].process, rows[i].state), (uint32_t)i};
	}
	qsort(ret_rows->items, ret_rows->count, sizeof(*ret_rows->items), compare_items);
	return 0;
}

static int find_exact(struct profile *profile, struct fault_items *ret_exact)
{
	const struct distribution *exact;
	size_t count = 0;

	while (profile_distribution_at(profile, count))
		count++;
	ret_exact->items = malloc((count + 1) * sizeof(*ret_exact->items));
	if (!ret_exact->items)
		return -ENOMEM;
	for (size_t i = 0; (exact = profile_distribution_at(profile, i)); i++) {
		if (exact->key.kind == PKBPF_PROFILE_FAULTS && exact->key.measure == PKBPF_FAULT_EXACT && exact->count)
			ret_exact->items[ret_exact->count++] =
				(struct fault_item){owner_of(profile, exact->key.process, exact->key.state), (uint32_t)i};
	}
	qsort(ret_exact->items, ret_exact->count, sizeof(*ret_exact->items), compare_items);
	return 0;
}

static size_t same_owner(const struct fault_items *list, size_t first)
{
	size_t end = first;

	while (end < list->count && !compare_owners(&list->items[end].owner, &list->items[first].owner))
		end++;
	return end;
}

static double square(double number)
{
	return number * number;
}

/* How many of the exact number no sample can stand for. Where what a sample stands for is not known: none. */
static uint64_t count_unannounced(const struct profile *profile, const uint32_t *places, size_t place_count, uint64_t exact)
{
	size_t row_count;
	const struct profile_row *rows = profile_rows(profile, &row_count);
	uint64_t sampled = 0, most = 0;
	double rest, error, squares = 0;

	for (size_t i = 0; i < place_count; i++) {
		sampled = rows[places[i]].count < UINT64_MAX - sampled ? sampled + rows[places[i]].count : UINT64_MAX;
		squares += (double)rows[places[i]].count * (double)rows[places[i]].max;
		if (rows[places[i]].max > most)
			most = rows[places[i]].max;
	}
	if (!most || sampled >= exact)
		return 0;
	rest = (double)(exact - sampled) - (double)exact / UNSEEN_SHARE;
	error = square(SAMPLING_ERRORS) * (squares + square((double)most));
	return rest > 0 && square(rest) > error ? exact - sampled : 0;
}

/* Exact numbers first to end are of one owner; so are the rows `places`. */
static int scale_owner(struct profile *profile, const struct fault_items *exact, size_t first, size_t end, const uint32_t *places,
		       size_t place_count)
{
	const struct distribution *largest = profile_distribution_at(profile, exact->items[first].place);
	uint64_t sum = 0, rest;

	for (size_t i = first; i < end; i++) {
		const struct distribution *item = profile_distribution_at(profile, exact->items[i].place);

		sum += item->count;
		if (item->count > largest->count)
			largest = item;
	}
	rest = count_unannounced(profile, places, place_count, sum);
	if (profile_scale(profile, places, place_count, sum - rest))
		return rest ? add_unannounced(profile, largest, rest) : 0;
	for (size_t i = first; i < end; i++) {
		if (add_without_stack(profile, profile_distribution_at(profile, exact->items[i].place)))
			return -ENOMEM;
	}
	return 0;
}

static int scale_all(struct profile *profile, const struct fault_items *exact, const struct fault_items *rows,
		     uint32_t *places)
{
	size_t row = 0, count, end;

	for (size_t first = 0; first < exact->count; first = end) {
		const struct fault_owner *owner = &exact->items[first].owner;

		end = same_owner(exact, first);
		while (row < rows->count && compare_owners(&rows->items[row].owner, owner) < 0)
			row++;
		for (count = 0; row < rows->count && !compare_owners(&rows->items[row].owner, owner); row++)
			places[count++] = rows->items[row].place;
		if (scale_owner(profile, exact, first, end, places, count))
			return -ENOMEM;
	}
	return 0;
}

int profile_scale_faults(struct profile *profile)
{
	struct fault_items exact = {0}, rows = {0};
	uint32_t *places = NULL;
	int err = find_exact(profile, &exact);

	err = err ? err : find_rows(profile, &rows);
	if (!err) {
		places = malloc((rows.count + 1) * sizeof(*places));
		err = places ? scale_all(profile, &exact, &rows, places) : -ENOMEM;
	}
	free(places);
	free(rows.items);
	free(exact.items);
	return err;
}
