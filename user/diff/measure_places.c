// SPDX-License-Identifier: BSD-2-Clause
#include "diff/measure_places.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "diff/clone_name.h"
#include "rows/heap_place.h"

#define NAME_BYTES 1024
/* Errors of places are half widths of intervals of 95 %. */
#define HALF_WIDTH_SIGMAS 1.96

DEFINE_CLEANUP(struct function_table *, function_table_free)

/* The samples at the peak were drawn as all of the place were: of the same weight, and each with
 * the same part of the variance. One more or less is a matter of luck. */
static bool add_place(struct measurement *measurement, const char *text,
		      const struct heap_place *heap, uint32_t run)
{
	const struct heap_estimate *all = &heap->allocated;
	struct diff_place *place = array_add(&measurement->places);
	double bytes = (double)heap->at_peak_bytes, error;
	double samples = bytes * (double)all->samples / (double)all->bytes;

	if (!place)
		return false;
	error = (double)all->error_bytes / HALF_WIDTH_SIGMAS *
		sqrt((samples + 1) / (double)all->samples);
	*place = (struct diff_place){
		.name = string_pool_add(measurement->names->texts, text),
		.run = run,
		.bytes = bytes,
		.error = error,
		.samples = samples,
	};
	return place->name != STRING_POOL_NONE;
}

int measure_places(struct measurement *measurement, const struct profile *profile, uint32_t run)
{
	const struct heap_list *heaps = profile_heaps(profile);
	_cleanup_(function_table_free_cleanup) struct function_table *functions = NULL;

	if (!heaps->items.count)
		return 0;
	functions = function_table_new(profile, &(struct function_table_options){.merge = true});
	if (!functions)
		return -ENOMEM;
	measurement->has_level[DIFF_PLACE] = true;
	array_foreach(&heaps->items, place) {
		const struct function *function;
		char name[NAME_BYTES] = "[unknown]";

		if (!place->at_peak_bytes || !place->allocated.bytes || !place->allocated.samples)
			continue;
		if (heap_place_functions(profile, functions, place, &function, 1))
			snprintf(name, sizeof(name), "%.*s", (int)clone_name_length(function->name),
				 function->name);
		if (!add_place(measurement, name, place, run))
			return -ENOMEM;
	}
	return 0;
}
