// SPDX-License-Identifier: BSD-2-Clause
#include "profile/account/machine_figures.h"

#include <stdio.h>
#include <string.h>

#define UJ_PER_JOULE 1e6
#define NS_PER_S     1e9

const char *const machine_count_names[MACHINE_COUNT_KINDS] = {
#define X(name, text) [MACHINE_##name] = (text),
	MACHINE_COUNTS(X)
#undef X
};

double machine_ratio(const struct machine_figures *figures, enum machine_count a,
		     enum machine_count b)
{
	return machine_has_counts(figures, a, b)
		       ? (double)figures->counts[a] / (double)figures->counts[b]
		       : 0;
}

double machine_mean_hz(const struct machine_figures *figures)
{
	return figures->frequency_readings
		       ? (double)figures->frequency_sum_hz / (double)figures->frequency_readings
		       : 0;
}

double machine_mean_watts(const struct machine_figures *figures)
{
	return figures->energy_ns ? (double)figures->energy_uj / UJ_PER_JOULE /
					    ((double)figures->energy_ns / NS_PER_S)
				  : 0;
}

static void add_frequency(struct machine_figures *into, const struct machine_figures *more)
{
	if (!more->frequency_readings)
		return;
	if (!into->frequency_readings || more->min_hz < into->min_hz)
		into->min_hz = more->min_hz;
	if (more->max_hz > into->max_hz)
		into->max_hz = more->max_hz;
	into->base_hz = more->base_hz;
	into->frequency_sum_hz += more->frequency_sum_hz;
	into->frequency_readings += more->frequency_readings;
}

void machine_figures_add(struct machine_figures *into, const struct machine_figures *more)
{
	if (!into->known) {
		*into = *more;
		return;
	}
	if (!more->known)
		return;
	if (more->memory_used_peak_bytes > into->memory_used_peak_bytes)
		into->memory_used_peak_bytes = more->memory_used_peak_bytes;
	into->energy_uj += more->energy_uj;
	into->energy_ns += more->energy_ns;
	memcpy(into->energy_source, more->energy_source, sizeof(into->energy_source));
	memcpy(into->energy_reason, more->energy_reason, sizeof(into->energy_reason));
	if (more->millicelsius > into->millicelsius || !into->temperature_source[0]) {
		into->millicelsius = more->millicelsius;
		memcpy(into->temperature_source, more->temperature_source,
		       sizeof(into->temperature_source));
	}
	memcpy(into->temperature_reason, more->temperature_reason,
	       sizeof(into->temperature_reason));
	into->throttles += more->throttles;
	into->throttles_known = into->throttles_known || more->throttles_known;
	add_frequency(into, more);
	memcpy(into->frequency_reason, more->frequency_reason, sizeof(into->frequency_reason));
	/* What was not counted throughout is no ratio of the same time. */
	into->counts_known &= more->counts_known;
	into->counts_scaled |= more->counts_scaled;
	for (int i = 0; i < MACHINE_COUNT_KINDS; i++)
		into->counts[i] += more->counts[i];
	memcpy(into->counts_reason, more->counts_reason, sizeof(into->counts_reason));
}
