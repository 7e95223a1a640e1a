// SPDX-License-Identifier: BSD-2-Clause
#include "diff/place_values.h"

#include <math.h>

/* Upper end of the exact 95 % interval of a count of 0 (Garwood 1936), as standard errors. */
#define NONE_ERROR (3.69 / 1.96)

bool place_values_init(struct place_values *values, const struct measurement *measurement)
{
	*values = (struct place_values){.runs = fmax(measurement->run_count, 1)};
	array_foreach(&measurement->places, place) {
		bool added;
		uint64_t *number =
			hash_map_get(&values->index, place->name, values->items.count, &added);
		struct place_value *value;

		if (!number)
			return false;
		value = added ? array_add(&values->items) : &values->items.items[*number];
		if (!value)
			return false;
		if (added)
			*value = (struct place_value){.name = place->name};
		value->bytes += place->bytes;
		values->bytes += place->bytes;
		value->variance += place->error * place->error;
		value->samples += place->samples;
	}
	return true;
}

void place_values_done(struct place_values *values)
{
	array_free(&values->items);
	hash_map_done(&values->index);
}

static const struct place_value *find(const struct place_values *values, uint32_t name)
{
	const uint64_t *number = hash_map_find(&values->index, name);

	return number ? &values->items.items[*number] : NULL;
}

void place_values_compare(const struct place_values values[DIFF_SIDES], uint32_t name,
			  struct diff_amount ret_sides[DIFF_SIDES])
{
	double bytes = 0, samples = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct place_value *value = find(&values[side], name);

		bytes += value ? value->bytes : 0;
		samples += value ? value->samples : 0;
	}
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct place_value *value = find(&values[side], name);
		double error = value	     ? sqrt(value->variance)
			       : samples > 0 ? NONE_ERROR * bytes / samples
					     : 0;
		double mean = value ? value->bytes / values[side].runs : 0;

		ret_sides[side] = (struct diff_amount){
			.value = mean,
			/* Runs differ, too. */
			.error = hypot(error / values[side].runs, mean * DIFF_RUN_SCATTER),
			.count = value ? value->samples : 0,
			.share = value && values[side].bytes > 0 ? value->bytes / values[side].bytes
								 : 0,
		};
	}
}
