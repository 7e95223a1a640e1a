// SPDX-License-Identifier: BSD-2-Clause
#include "source/regions/region_duty.h"

#include "base/clock.h"

#define DEAR_SLICES 2
#define CHEAP_NS    (600 * NS_PER_SECOND)
#define MOST_SHIFT  10

_Static_assert(1 << MOST_SHIFT == REGION_DUTY_MOST, "one of so many");

/* On average over slices. */
static uint64_t usual_cost_ns(const struct region_duty *duty)
{
	return duty->cost_ns >> duty->shift;
}

static uint64_t sum_of(struct region_duty *const *files, size_t count)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < count; i++)
		sum_ns += usual_cost_ns(files[i]);
	return sum_ns;
}

/* NULL: it is watched as little as can be, and others do not pay for it. */
static struct region_duty *dearest(struct region_duty *const *files, size_t count)
{
	struct region_duty *found = NULL;

	for (size_t i = 0; i < count; i++)
		if (!found || usual_cost_ns(files[i]) > usual_cost_ns(found))
			found = files[i];
	return found && found->shift < MOST_SHIFT ? found : NULL;
}

static bool take_away(struct region_duty *const *files, size_t count, uint64_t allowed_ns)
{
	bool changed = false;
	struct region_duty *duty;

	while (sum_of(files, count) > allowed_ns && (duty = dearest(files, count))) {
		duty->shift++;
		changed = true;
	}
	return changed;
}

/* One step, of the cheapest file that then still fits. */
static bool give_back(struct region_duty *const *files, size_t count, uint64_t allowed_ns)
{
	struct region_duty *found = NULL;

	for (size_t i = 0; i < count; i++)
		if (files[i]->shift && (!found || usual_cost_ns(files[i]) < usual_cost_ns(found)))
			found = files[i];
	if (!found || sum_of(files, count) + usual_cost_ns(found) > allowed_ns)
		return false;
	found->shift--;
	return true;
}

bool region_duties_step(struct region_duties *all, struct region_duty *const *files, size_t count,
			uint64_t allowed_ns, uint64_t length_ns)
{
	uint64_t sum_ns = sum_of(files, count);

	if (sum_ns > allowed_ns) {
		all->cheap_ns = 0;
		if (++all->dear_slices < DEAR_SLICES && sum_ns < REGION_DUTY_BURST * allowed_ns)
			return false;
		all->dear_slices = 0;
		return take_away(files, count, allowed_ns);
	}
	all->dear_slices = 0;
	all->cheap_ns = sum_ns < allowed_ns / 2 ? all->cheap_ns + length_ns : 0;
	if (all->cheap_ns < CHEAP_NS)
		return false;
	all->cheap_ns = 0;
	return give_back(files, count, allowed_ns);
}

bool region_duty_watches(const struct region_duty *duty, uint64_t identity, uint64_t sequence)
{
	/* One of each so many slices, each time another: the finalizer of splitmix64. */
	uint64_t group = sequence >> duty->shift, place = sequence - (group << duty->shift);
	uint64_t hash = (identity ^ group) * 0x9E3779B97F4A7C15ULL;

	hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9ULL;
	hash = (hash ^ hash >> 27) * 0x94D049BB133111EBULL;
	hash ^= hash >> 31;
	return (hash & ((1ULL << duty->shift) - 1)) == place;
}
