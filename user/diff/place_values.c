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

/* ---- rows ---- */

static bool both_have_places(const struct comparison *comparison)
{
	return comparison->sides[DIFF_BASE]->has_level[DIFF_PLACE] &&
	       comparison->sides[DIFF_NEW]->has_level[DIFF_PLACE];
}

void place_rows_replace_functions(struct comparison *comparison)
{
	size_t count = 0;

	if (!both_have_places(comparison))
		return;
	array_foreach(&comparison->rows, row)
		if (row->key.kind != PKBPF_PROFILE_LIVE ||
		    (row->key.level != DIFF_SELF && row->key.level != DIFF_TOTAL))
			comparison->rows.items[count++] = *row;
	comparison->rows.count = count;
}

bool place_rows_add(struct comparison *comparison, const struct place_values values[DIFF_SIDES])
{
	if (!(comparison->kinds_mask & 1U << PKBPF_PROFILE_LIVE) || !both_have_places(comparison))
		return true;
	for (int side = 0; side < DIFF_SIDES; side++)
		array_foreach(&values[side].items, place) {
			struct diff_row *row;

			if (side != DIFF_BASE && find(&values[DIFF_BASE], place->name))
				continue;
			row = array_add(&comparison->rows);
			if (!row)
				return false;
			row->key = (struct diff_key){PKBPF_PROFILE_LIVE, DIFF_PLACE, place->name};
		}
	return true;
}
