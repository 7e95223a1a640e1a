// SPDX-License-Identifier: BSD-2-Clause
#include "alert/run_reading.h"

#include "profile/profile.h"

void run_readings_add(struct run_readings *readings, const struct resource_rows *rows)
{
	const struct profile_info *info = profile_info_read(rows->profile);
	struct run_reading *reading = &readings->items[readings->next];
	const struct figure *figure;
	size_t number = 0;

	*reading = (struct run_reading){.length_ns = info->end_ns - info->start_ns};
	for (size_t i = 0; (figure = figure_at(i)) && number < RUN_FIGURES_MAX; i++) {
		if (figure->scope != FIGURE_OF_RUN)
			continue;
		reading->known[number] = figure_value(figure, rows, NULL, &reading->values[number]);
		number++;
	}
	readings->next = (readings->next + 1) % RUN_READINGS_MAX;
	readings->count += readings->count < RUN_READINGS_MAX;
}

static size_t number_of(const struct figure *wanted)
{
	const struct figure *figure;
	size_t number = 0;

	for (size_t i = 0; (figure = figure_at(i)) && figure != wanted; i++)
		number += figure->scope == FIGURE_OF_RUN;
	return number;
}

bool run_readings_value(const struct run_readings *readings, const struct figure *figure,
			uint64_t over_ns, double *ret_value)
{
	size_t number = number_of(figure);
	double sum = 0, weighted = 0, last = 0;
	uint64_t covered_ns = 0, known_ns = 0;

	if (number >= RUN_FIGURES_MAX)
		return false;
	for (size_t back = 0; back < readings->count && (!back || covered_ns < over_ns); back++) {
		const struct run_reading *reading =
			&readings->items[(readings->next + RUN_READINGS_MAX - 1 - back) %
					 RUN_READINGS_MAX];

		covered_ns += reading->length_ns;
		if (!reading->known[number])
			continue;
		if (!known_ns)
			last = reading->values[number];
		known_ns += reading->length_ns;
		sum += reading->values[number];
		weighted += reading->values[number] * (double)reading->length_ns;
	}
	if (!known_ns || known_ns < over_ns / 2)
		return false;
	*ret_value = figure->unit == FIGURE_PERCENT ? weighted / (double)known_ns
		     : figure->unit == FIGURE_COUNT ? sum
						    : last;
	return true;
}
