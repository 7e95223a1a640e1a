// SPDX-License-Identifier: BSD-2-Clause
/* The figures there are: those of the parts of rows, and those of the run, a row each. */
#include "rows/figure_table.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

static bool lost_total(const struct resource_rows *rows, double *ret_value)
{
	struct profile_account account = profile_account(rows->profile);

	*ret_value = (double)account.lost + (double)account.lost_other;
	return true;
}

static bool lost_samples(const struct resource_rows *rows, double *ret_value)
{
	*ret_value = (double)profile_account(rows->profile).lost;
	return true;
}

static bool lost_share(const struct resource_rows *rows, double *ret_value)
{
	struct profile_account account = profile_account(rows->profile);

	if (!account.expected)
		return false;
	*ret_value = 100 * (double)account.lost / (double)account.expected;
	return true;
}

static bool machine_busy(const struct resource_rows *rows, double *ret_value)
{
	*ret_value = rows->busy_percent;
	return rows->busy_percent >= 0;
}

static bool machine_memory(const struct resource_rows *rows, double *ret_value)
{
	*ret_value = (double)rows->machine.memory_available_bytes;
	return rows->machine.known;
}

static const struct machine_figures *machine_of(const struct resource_rows *rows)
{
	return &profile_info_read(rows->profile)->machine;
}

static bool machine_memory_peak(const struct resource_rows *rows, double *ret_value)
{
	*ret_value = (double)machine_of(rows)->memory_used_peak_bytes;
	return machine_of(rows)->memory_used_peak_bytes;
}

static bool machine_disk_busy(const struct resource_rows *rows, double *ret_value)
{
	const struct disk *disk = disk_list_busiest(profile_disks(rows->profile));

	*ret_value = disk ? disk_busy_percent(disk) : 0;
	return disk;
}

static bool machine_temperature(const struct resource_rows *rows, double *ret_value)
{
	*ret_value = (double)machine_of(rows)->millicelsius / 1000;
	return machine_of(rows)->temperature_source[0];
}

static bool machine_throttles(const struct resource_rows *rows, double *ret_value)
{
	*ret_value = (double)machine_of(rows)->throttles;
	return machine_of(rows)->throttles_known;
}

static bool machine_frequency(const struct resource_rows *rows, double *ret_value)
{
	*ret_value = machine_mean_hz(machine_of(rows)) / 1e6;
	return machine_of(rows)->frequency_readings;
}

static bool machine_power(const struct resource_rows *rows, double *ret_value)
{
	*ret_value = machine_mean_watts(machine_of(rows));
	return machine_of(rows)->energy_ns;
}

static bool cost_share(const struct resource_rows *rows, double *ret_value)
{
	const struct profile_info *info = profile_info_read(rows->profile);

	if (!rows->interval_ns)
		return false;
	*ret_value = 100 * ((double)profile_own_cpu_since_start(info) + (double)info->bpf_cpu_ns) /
		     (double)rows->interval_ns;
	return true;
}

static bool run_rows(const struct resource_rows *rows, double *ret_value)
{
	*ret_value = (double)rows->count;
	return true;
}

#define RUN(group_, name_, unit_, function, summary_)                                              \
	{                                                                                          \
		.group = group_, .name = name_, .unit = FIGURE_##unit_, .scope = FIGURE_OF_RUN,    \
		.of_run = function, .summary = summary_                                            \
	}

static const struct figure run_figures[] = {
	RUN("lost", "total", COUNT, lost_total, "lost samples, records, requests and threads"),
	RUN("lost", "samples", COUNT, lost_samples, "lost CPU samples"),
	RUN("lost", "share", PERCENT, lost_share, "lost share of the expected CPU samples"),
	RUN("machine", "busy", PERCENT, machine_busy, "busy share of all CPUs"),
	RUN("machine", "memory_available", BYTES, machine_memory, "available memory at the end"),
	RUN("machine", "memory_used_peak", BYTES, machine_memory_peak,
	    "largest memory in use, read once a second"),
	RUN("machine", "disk_busy", PERCENT, machine_disk_busy,
	    "time with requests, of the disk that was busy longest"),
	RUN("machine", "temperature_celsius", COUNT, machine_temperature,
	    "highest temperature of a CPU"),
	RUN("machine", "throttled_times", COUNT, machine_throttles,
	    "times that heat slowed a CPU down"),
	RUN("machine", "frequency_mhz", COUNT, machine_frequency, "mean clock of the CPUs"),
	RUN("machine", "power_watts", COUNT, machine_power,
	    "mean power, by the machine's own meter"),
	RUN("cost", "share", PERCENT, cost_share,
	    "profiler overhead as a share of one CPU, with BPF programs"),
	RUN("rows", "total", COUNT, run_rows, "rows of active processes"),
};

const struct figure *figure_at(size_t index)
{
	const struct row_part *part;

	for (size_t i = 0; (part = row_part_at(i)); i++) {
		if (index < part->figure_count)
			return &part->figures[index];
		index -= part->figure_count;
	}
	return index < ARRAY_SIZE(run_figures) ? &run_figures[index] : NULL;
}

const struct figure *figure_find(const char *name)
{
	const char *dot = strchr(name, '.');
	size_t length = dot ? (size_t)(dot - name) : strlen(name);
	const struct figure *figure;

	for (size_t i = 0; (figure = figure_at(i)); i++)
		if (strlen(figure->group) == length && strncmp(figure->group, name, length) == 0 &&
		    strcmp(figure->name, dot ? dot + 1 : "total") == 0)
			return figure;
	return NULL;
}

const char *figure_unit_suffix(enum figure_unit unit)
{
	switch (unit) {
	case FIGURE_NS:
		return "_ns";
	case FIGURE_BYTES:
	case FIGURE_SIGNED_BYTES:
		return "_bytes";
	case FIGURE_PERCENT:
		return "_percent";
	case FIGURE_COUNT:
		break;
	}
	return "";
}

bool figure_known(const struct figure *figure, const struct resource_row *row)
{
	uint64_t max = 1;

	if (figure->max_offset)
		memcpy(&max, (const char *)row + figure->max_offset, sizeof(max));
	return figure->scope == FIGURE_OF_ROW && (row->known & figure->needs) == figure->needs &&
	       max;
}

uint64_t figure_u64(const struct figure *figure, const struct resource_row *row)
{
	uint64_t value;

	memcpy(&value, (const char *)row + figure->offset, sizeof(value));
	return value;
}

bool figure_value(const struct figure *figure, const struct resource_rows *rows,
		  const struct resource_row *row, double *ret_value)
{
	uint64_t value;

	if (figure->scope == FIGURE_OF_RUN)
		return figure->of_run(rows, ret_value);
	if (!row || !figure_known(figure, row))
		return false;
	value = figure_u64(figure, row);
	if (figure->unit == FIGURE_PERCENT)
		memcpy(ret_value, &value, sizeof(*ret_value));
	else if (figure->unit == FIGURE_SIGNED_BYTES)
		*ret_value = (double)(int64_t)value;
	else
		*ret_value = (double)value;
	return true;
}
