// SPDX-License-Identifier: BSD-2-Clause
/* Divides the page faults of processes with the same name among the stacks sampled in any of
 * them. */
#include "profile/account/fault_pool.h"

#include <errno.h>
#include <stdlib.h>

#include <pkbpf/faults.h>

#include "base/array.h"
#include "profile/account/fault_counts.h"

/* Beyond this many standard errors a difference is not chance. */
#define STANDARD_ERRORS 6

static const struct frame_location unannounced = {.space = FRAME_TRUNCATED,
						  .address = PKBPF_END_UNANNOUNCED};

/* Special values in place of a row's index. */
enum { PLACE_UNANNOUNCED = UINT32_MAX, PLACE_NO_STACK = UINT32_MAX - 1 };

/* Faults of one place that go to another owner. */
struct surplus {
	uint32_t place;
	uint64_t count;
};

struct fault_pool {
	struct profile *profile;
	const struct fault_owner *owners;
	size_t owner_count;
	const struct fault_places *places;
	ARRAY_OF(struct surplus) surplus;
};

uint64_t fault_count_unannounced(uint64_t exact, uint64_t announced, double variance)
{
	double rest;

	if (announced >= exact)
		return 0;
	rest = (double)(exact - announced);
	return rest * rest > STANDARD_ERRORS * STANDARD_ERRORS * variance ? exact - announced : 0;
}

static struct profile_row new_row(const struct fault_owner *owner, uint64_t count)
{
	return (struct profile_row){
		.kind = PKBPF_PROFILE_FAULTS,
		.process = owner->process,
		.tid = PROFILE_NO_THREAD,
		.state = owner->key.state,
		.count = count,
		.weight = count,
	};
}

static int add_named(struct profile *profile, const struct fault_owner *owner, uint32_t stack,
		     uint64_t count)
{
	struct profile_row row = new_row(owner, count);

	row.comm = profile_intern_string(profile, owner->comm);
	row.stack = stack;
	if (row.comm == UINT32_MAX || row.stack == UINT32_MAX)
		return -ENOMEM;
	return profile_add(profile, &row);
}

int fault_add_without_stack(struct profile *profile, const struct fault_owner *owner,
			    uint64_t count)
{
	return add_named(profile, owner, profile_intern_stack(profile, NULL, 0), count);
}

int fault_add_unannounced(struct profile *profile, const struct fault_owner *owner, uint64_t count)
{
	uint32_t frame = profile_intern_frame(profile, &unannounced);

	if (frame == UINT32_MAX)
		return -ENOMEM;
	return add_named(profile, owner, profile_intern_stack(profile, &frame, 1), count);
}

bool profile_fault_was_sampled(const struct profile *profile, const struct profile_row *row)
{
	size_t count;
	const uint32_t *frames = profile_stack(profile, row->stack, &count);
	const struct frame_location *leaf =
		count ? &profile_frame(profile, frames[0])->location : NULL;

	return leaf && !(leaf->space == unannounced.space && leaf->address == unannounced.address);
}

static int add_surplus(struct fault_pool *pool, uint32_t place, uint64_t count)
{
	struct surplus *surplus;

	if (!count)
		return 0;
	surplus = array_add(&pool->surplus);
	if (!surplus)
		return -ENOMEM;
	*surplus = (struct surplus){place, count};
	return 0;
}

/* Scales the rows of all owners; faults an owner cannot have are surplus at once. -EOVERFLOW:
 * the sums of a hostile recording overflow; nothing has changed. */
static int scale_all(struct fault_pool *pool)
{
	uint64_t exact = 0, announced = 0, rest;
	bool knows_announced = true;
	double variance = 0;
	size_t count = 0;

	for (size_t i = 0; i < pool->owner_count; i++) {
		const struct fault_owner *owner = &pool->owners[i];

		if (__builtin_add_overflow(exact, owner->exact, &exact) ||
		    __builtin_add_overflow(announced, owner->announced, &announced))
			return -EOVERFLOW;
		variance += owner->variance;
		knows_announced = knows_announced && owner->knows_announced;
		for (size_t j = 0; j < owner->row_count; j++)
			pool->places->scratch[count++] = pool->places->rows[owner->first + j];
	}
	rest = knows_announced ? fault_count_unannounced(exact, announced, variance) : 0;
	if (add_surplus(pool, PLACE_UNANNOUNCED, rest))
		return -ENOMEM;
	if (profile_scale(pool->profile, pool->places->scratch, count, exact - rest))
		return 0;
	return add_surplus(pool, PLACE_NO_STACK, exact - rest);
}

static uint64_t sum_rows(const struct fault_pool *pool, const struct fault_owner *owner)
{
	size_t row_count;
	const struct profile_row *rows = profile_rows(pool->profile, &row_count);
	uint64_t sum = 0;

	for (size_t i = 0; i < owner->row_count; i++)
		sum += rows[pool->places->rows[owner->first + i]].count;
	return sum;
}

/* Limits an owner to its exact count. */
static int cut_owner(struct fault_pool *pool, const struct fault_owner *owner)
{
	size_t row_count;
	const struct profile_row *rows = profile_rows(pool->profile, &row_count);
	const uint32_t *places = &pool->places->rows[owner->first];
	uint64_t *before = pool->places->counts;

	for (size_t i = 0; i < owner->row_count; i++)
		before[i] = rows[places[i]].count;
	profile_scale(pool->profile, places, owner->row_count, owner->exact);
	for (size_t i = 0; i < owner->row_count; i++) {
		if (add_surplus(pool, places[i], before[i] - rows[places[i]].count))
			return -ENOMEM;
	}
	return 0;
}

static int give(struct fault_pool *pool, const struct fault_owner *owner, uint32_t place,
		uint64_t count)
{
	struct profile_row row = new_row(owner, count);
	size_t row_count;
	const struct profile_row *from;

	if (place == PLACE_UNANNOUNCED)
		return fault_add_unannounced(pool->profile, owner, count);
	if (place == PLACE_NO_STACK)
		return fault_add_without_stack(pool->profile, owner, count);
	from = &profile_rows(pool->profile, &row_count)[place];
	row.comm = from->comm;
	row.stack = from->stack;
	row.state = from->state;
	return profile_add(pool->profile, &row);
}

static int give_surplus(struct fault_pool *pool, const uint64_t *missing)
{
	size_t next = 0;

	for (size_t i = 0; i < pool->owner_count; i++) {
		uint64_t wanted = missing[i];

		while (wanted && next < pool->surplus.count) {
			struct surplus *surplus = &pool->surplus.items[next];
			uint64_t count = surplus->count < wanted ? surplus->count : wanted;

			if (give(pool, &pool->owners[i], surplus->place, count))
				return -ENOMEM;
			wanted -= count;
			surplus->count -= count;
			if (!surplus->count)
				next++;
		}
	}
	return 0;
}

static int divide(struct fault_pool *pool, uint64_t *missing)
{
	int err = scale_all(pool);

	for (size_t i = 0; i < pool->owner_count && !err; i++) {
		const struct fault_owner *owner = &pool->owners[i];
		uint64_t sum = sum_rows(pool, owner);

		if (sum < owner->exact)
			missing[i] = owner->exact - sum;
		else if (sum > owner->exact)
			err = cut_owner(pool, owner);
	}
	return err ? err : give_surplus(pool, missing);
}

int fault_pool_divide(struct profile *profile, const struct fault_owner *owners, size_t owner_count,
		      const struct fault_places *places)
{
	struct fault_pool pool = {
		.profile = profile, .owners = owners, .owner_count = owner_count, .places = places};
	uint64_t *missing = calloc(owner_count + 1, sizeof(*missing));
	int err = missing ? divide(&pool, missing) : -ENOMEM;

	array_free(&pool.surplus);
	free(missing);
	return err == -EOVERFLOW ? 0 : err;
}
