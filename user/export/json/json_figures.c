// SPDX-License-Identifier: BSD-2-Clause
/* Writes energy, temperature, frequency and CPU counters of the machine, and why some are missing.
 */
#include "export/json/json_sections.h"

#define UJ_PER_JOULE 1e6

static void write_reason(struct json_writer *writer, const char *key, const char *reason)
{
	if (reason[0])
		json_writer_string(writer, key, reason);
}

static void write_counts(struct json_writer *writer, const struct machine_figures *figures,
			 bool of_targets)
{
	json_writer_object_begin(writer, "counts");
	json_writer_string(writer, "of", of_targets ? "targets" : "host");
	for (int i = 0; i < MACHINE_COUNT_KINDS; i++)
		if (figures->counts_known & 1U << i)
			json_writer_u64(writer, machine_count_names[i], figures->counts[i]);
	if (machine_has_counts(figures, MACHINE_INSTRUCTIONS, MACHINE_CYCLES))
		json_writer_decimal(writer, "instructions_per_cycle",
				    machine_ratio(figures, MACHINE_INSTRUCTIONS, MACHINE_CYCLES));
	json_writer_bool(writer, "scaled", figures->counts_scaled != 0);
	json_writer_object_end(writer);
}

void json_figures(struct json_writer *writer, const struct profile_info *info)
{
	const struct machine_figures *figures = &info->machine;

	if (!figures->known)
		return;
	json_writer_object_begin(writer, "machine");
	if (figures->energy_ns) {
		json_writer_decimal(writer, "energy_joules",
				    (double)figures->energy_uj / UJ_PER_JOULE);
		json_writer_decimal(writer, "power_watts", machine_mean_watts(figures));
		json_writer_string(writer, "energy_source", figures->energy_source);
	}
	if (figures->temperature_source[0]) {
		json_writer_decimal(writer, "temperature_max_celsius",
				    (double)figures->millicelsius / 1000);
		json_writer_string(writer, "temperature_source", figures->temperature_source);
	}
	if (figures->throttles_known)
		json_writer_u64(writer, "throttled", figures->throttles);
	if (figures->frequency_readings) {
		json_writer_decimal(writer, "frequency_mean_hz", machine_mean_hz(figures));
		json_writer_u64(writer, "frequency_min_hz", figures->min_hz);
		json_writer_u64(writer, "frequency_max_hz", figures->max_hz);
		if (figures->base_hz)
			json_writer_u64(writer, "frequency_base_hz", figures->base_hz);
	}
	if (figures->counts_known)
		write_counts(writer, figures, info->has_targets);
	json_writer_object_begin(writer, "missing");
	write_reason(writer, "energy", figures->energy_reason);
	write_reason(writer, "temperature", figures->temperature_reason);
	write_reason(writer, "frequency", figures->frequency_reason);
	write_reason(writer, "counts", figures->counts_reason);
	json_writer_object_end(writer);
	json_writer_object_end(writer);
}
