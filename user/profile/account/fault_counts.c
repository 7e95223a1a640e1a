// SPDX-License-Identifier: BSD-2-Clause
/* Scales the weights of page-fault stacks to the exact count of each process. */
#include "profile/account/fault_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/faults.h>

#include "base/array.h"
#include "profile/account/fault_pool.h"

/* A process with at least this many expected samples is scaled by its own samples alone. The exact
 * count decides, not the number of samples: the latter would favour some stacks. The chance of
 * having no sample nevertheless is 1 in 10^13. */
#define ENOUGH_SAMPLES 30

/* Index of a row in profile_rows(), or number of a distribution, with the owner of the faults. */
struct fault_item {
	struct fault_key key;
	uint32_t place;
};

struct scaling {
	struct profile *profile;
	ARRAY_OF(struct fault_item) rows;
	ARRAY_OF(struct fault_item) numbers;
	ARRAY_OF(struct fault_owner) owners;
	struct fault_places places;
};

static struct fault_key key_of(const struct scaling *scaling, uint32_t id, uint8_t state)
{
	const struct process *process =
		process_table_by_id(profile_processes(scaling->profile), id);
	struct fault_key key = {.number = 1ULL << 32 | id, .state = state & PKBPF_FAULT_MASK};

	if (process && !process->members) {
		key.number = process->pid;
		key.born_ns = process->born_ns;
	}
	return key;
}

static int compare_keys(const struct fault_key *a, const struct fault_key *b)
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
	int order = compare_keys(&a->key, &b->key);

	return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* Owners of one name and state are adjacent and divided together; among them, those of one
 * cgroup are adjacent. */
static int compare_owners(const void *left, const void *right)
{
	const struct fault_owner *a = left, *b = right;
	int order = (int)a->key.state - (int)b->key.state;

	order = order ? order : strcmp(a->comm, b->comm);
	order = order ? order : (a->cgroup_id > b->cgroup_id) - (a->cgroup_id < b->cgroup_id);
	return order ? order : compare_keys(&a->key, &b->key);
}

/* Page-fault rows, sorted by owner. */
static int find_rows(struct scaling *scaling)
{
	size_t row_count;
	const struct profile_row *rows = profile_rows(scaling->profile, &row_count);
	struct fault_item *item;

	for (size_t i = 0; i < row_count; i++) {
		if (rows[i].kind != PKBPF_PROFILE_FAULTS)
			continue;
		item = array_add(&scaling->rows);
		if (!item)
			return -ENOMEM;
		*item = (struct fault_item){key_of(scaling, rows[i].process, rows[i].state),
					    (uint32_t)i};
	}
	if (scaling->rows.count)
		qsort(scaling->rows.items, scaling->rows.count, sizeof(*scaling->rows.items),
		      compare_items);
	return 0;
}

static int find_numbers(struct scaling *scaling)
{
	const struct distribution *number;
	struct fault_item *item;

	for (size_t i = 0; (number = profile_distribution_at(scaling->profile, i)); i++) {
		if (number->key.kind != PKBPF_PROFILE_FAULTS ||
		    (number->key.measure != PKBPF_FAULT_EXACT &&
		     number->key.measure != PKBPF_FAULT_ANNOUNCED))
			continue;
		item = array_add(&scaling->numbers);
		if (!item)
			return -ENOMEM;
		*item = (struct fault_item){key_of(scaling, number->key.process, number->key.state),
					    (uint32_t)i};
	}
	if (scaling->numbers.count)
		qsort(scaling->numbers.items, scaling->numbers.count,
		      sizeof(*scaling->numbers.items), compare_items);
	return 0;
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

static void add_number(struct fault_owner *owner, const struct distribution *number)
{
	if (number->key.measure == PKBPF_FAULT_ANNOUNCED) {
		owner->announced = add_saturated(owner->announced, number->count);
		owner->variance += (double)number->variance;
		owner->knows_announced = true;
		return;
	}
	owner->exact = add_saturated(owner->exact, number->count);
	if (number->count < owner->most)
		return;
	owner->most = number->count;
	owner->process = number->key.process;
}

/* Takes one owner's counts from *number on and rows from *row on, and advances both. */
static struct fault_owner take_owner(const struct scaling *scaling, size_t *number, size_t *row)
{
	const struct fault_item *numbers = scaling->numbers.items, *rows = scaling->rows.items;
	struct fault_owner owner = {.key = numbers[*number].key};
	const struct process *process;

	for (; *number < scaling->numbers.count && !compare_keys(&numbers[*number].key, &owner.key);
	     ++*number)
		add_number(&owner,
			   profile_distribution_at(scaling->profile, numbers[*number].place));
	while (*row < scaling->rows.count && compare_keys(&rows[*row].key, &owner.key) < 0)
		++*row;
	owner.first = *row;
	for (; *row < scaling->rows.count && !compare_keys(&rows[*row].key, &owner.key); ++*row)
		owner.row_count++;
	process = process_table_by_id(profile_processes(scaling->profile), owner.process);
	owner.comm = process ? process->comm : "";
	owner.cgroup_id = process ? process->cgroup_id : 0;
	return owner;
}

static int find_owners(struct scaling *scaling)
{
	size_t number = 0, row = 0;

	while (number < scaling->numbers.count) {
		struct fault_owner owner = take_owner(scaling, &number, &row);

		if (!owner.exact)
			continue;
		if (!array_reserve(&scaling->owners, scaling->owners.count + 1))
			return -ENOMEM;
		*array_add(&scaling->owners) = owner;
	}
	if (scaling->owners.count)
		qsort(scaling->owners.items, scaling->owners.count, sizeof(*scaling->owners.items),
		      compare_owners);
	return 0;
}

static int make_places(struct scaling *scaling)
{
	struct fault_places *places = &scaling->places;

	places->count = scaling->rows.count;
	places->rows = calloc(places->count + 1, sizeof(*places->rows));
	places->scratch = calloc(places->count + 1, sizeof(*places->scratch));
	places->counts = calloc(places->count + 1, sizeof(*places->counts));
	if (!places->rows || !places->scratch || !places->counts)
		return -ENOMEM;
	for (size_t i = 0; i < places->count; i++)
		places->rows[i] = scaling->rows.items[i].place;
	return 0;
}

/* Scales an owner by its own samples. */
static int scale_owner(const struct scaling *scaling, const struct fault_owner *owner)
{
	if (profile_scale(scaling->profile, &scaling->places.rows[owner->first], owner->row_count,
			  owner->exact))
		return 0;
	return fault_add_without_stack(scaling->profile, owner, owner->exact);
}

/* Leaves the faults that sampling may have hit, as far as one process alone shows it. */
static int split_unannounced(const struct scaling *scaling, struct fault_owner *owner)
{
	uint64_t rest =
		owner->knows_announced
			? fault_count_unannounced(owner->exact, owner->announced, owner->variance)
			: 0;

	owner->exact -= rest;
	return rest ? fault_add_unannounced(scaling->profile, owner, rest) : 0;
}

/* Average number of faults per sampled fault of these owners; 0: unknown. */
static double mean_weight(const struct scaling *scaling, const struct fault_owner *owners,
			  size_t count)
{
	size_t row_count;
	const struct profile_row *rows = profile_rows(scaling->profile, &row_count);
	double sum = 0, squares = 0;

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < owners[i].row_count; j++) {
			const struct profile_row *row =
				&rows[scaling->places.rows[owners[i].first + j]];

			sum += (double)row->count;
			squares += (double)row->count * (double)row->max;
		}
	}
	return sum > 0 ? squares / sum : 0;
}

/* Owners with many faults are scaled alone, the others together; the latter are moved next to
 * each other. */
static int scale_group(const struct scaling *scaling, struct fault_owner *owners, size_t count)
{
	double enough = ENOUGH_SAMPLES * mean_weight(scaling, owners, count);
	size_t few = 0;
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		err = split_unannounced(scaling, &owners[i]);
		if (err || !owners[i].exact)
			continue;
		if (!owners[i].row_count || (double)owners[i].exact < enough)
			owners[few++] = owners[i];
		else
			err = scale_owner(scaling, &owners[i]);
	}
	return err || !few ? err
			   : fault_pool_divide(scaling->profile, owners, few, &scaling->places);
}

static int scale_all(struct scaling *scaling)
{
	struct fault_owner *owners = scaling->owners.items;
	size_t count = scaling->owners.count;
	int err = 0;

	for (size_t first = 0, end; first < count && !err; first = end) {
		for (end = first + 1; end < count; end++) {
			if (owners[end].key.state != owners[first].key.state ||
			    strcmp(owners[end].comm, owners[first].comm) != 0)
				break;
		}
		err = scale_group(scaling, &owners[first], end - first);
	}
	return err;
}

int profile_scale_faults(struct profile *profile)
{
	struct scaling scaling = {.profile = profile};
	int err = find_rows(&scaling);

	err = err ? err : find_numbers(&scaling);
	err = err ? err : find_owners(&scaling);
	err = err ? err : make_places(&scaling);
	err = err ? err : scale_all(&scaling);
	free(scaling.places.counts);
	free(scaling.places.scratch);
	free(scaling.places.rows);
	array_free(&scaling.owners);
	array_free(&scaling.numbers);
	array_free(&scaling.rows);
	return err;
}
