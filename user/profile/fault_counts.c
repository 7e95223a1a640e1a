// SPDX-License-Identifier: BSD-2-Clause
/* Scales the weights of page-fault stacks to the exact number of each process. */
#include "profile/fault_counts.h"

#include <errno.h>
#include <stdlib.h>

#include <pkbpf/faults.h>

#include "base/cleanup.h"

static int add_without_stack(struct profile *profile, const struct distribution *exact)
{
	const struct process *process =
		process_table_by_id(profile_processes(profile), exact->key.process);
	struct profile_row row = {
		.kind = PKBPF_PROFILE_FAULTS,
		.process = exact->key.process,
		.tid = PROFILE_NO_THREAD,
		.comm = profile_intern_string(profile, process ? process->comm : ""),
		.stack = profile_intern_stack(profile, NULL, 0),
		.state = exact->key.state,
		.count = exact->count,
		.weight = exact->count,
	};

	if (row.comm == UINT32_MAX || row.stack == UINT32_MAX)
		return -ENOMEM;
	return profile_add(profile, &row);
}

/* Where a row stands in profile_rows(), and whose faults it counts. */
struct fault_row {
	uint64_t owner;
	uint32_t place;
};

static uint64_t owner_of(uint32_t process, uint8_t state)
{
	return (uint64_t)process << 8 | (state & PKBPF_FAULT_MASK);
}

static int compare_rows(const void *left, const void *right)
{
	const struct fault_row *a = left, *b = right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* The rows of page faults by owner, in the order they have; NULL: out of memory. */
static struct fault_row *sort_rows(const struct profile *profile, size_t *ret_count)
{
	size_t row_count, count = 0;
	const struct profile_row *rows = profile_rows(profile, &row_count);
	struct fault_row *sorted = malloc((row_count + 1) * sizeof(*sorted));

	for (size_t i = 0; sorted && i < row_count; i++) {
		if (rows[i].kind == PKBPF_PROFILE_FAULTS)
			sorted[count++] = (struct fault_row){owner_of(rows[i].process, rows[i].state), (uint32_t)i};
	}
	if (sorted)
		qsort(sorted, count, sizeof(*sorted), compare_rows);
	*ret_count = count;
	return sorted;
}

static size_t first_of(const struct fault_row *sorted, size_t count, uint64_t owner)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted[middle].owner < owner)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int profile_scale_faults(struct profile *profile)
{
	const struct distribution *exact;
	size_t count;
	_cleanup_free_ struct fault_row *sorted = sort_rows(profile, &count);
	_cleanup_free_ uint32_t *places = malloc((count + 1) * sizeof(*places));

	if (!sorted || !places)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		places[i] = sorted[i].place;
	for (size_t i = 0; (exact = profile_distribution_at(profile, i)); i++) {
		uint64_t owner = owner_of(exact->key.process, exact->key.state);
		size_t first = first_of(sorted, count, owner);
		size_t end = first_of(sorted, count, owner + 1);

		if (exact->key.kind != PKBPF_PROFILE_FAULTS ||
		    exact->key.measure != PKBPF_FAULT_EXACT || !exact->count)
			continue;
		if (!profile_scale(profile, places + first, end - first, exact->count) && add_without_stack(profile, exact))
			return -ENOMEM;
	}
	return 0;
}
