// SPDX-License-Identifier: BSD-2-Clause
#include "rows/gpu_words.h"

#include "base/array.h"
#include "base/text_append.h"
#include "rows/human.h"

static void add_memory(const struct gpu_device *device, char *text, size_t size)
{
	char a[HUMAN_SIZE], b[HUMAN_SIZE];

	if (!device->memory_kib.ms)
		return;
	text_append(text, size, ", memory at most %s", human_bytes(a, device->memory_peak));
	if (device->memory_total)
		text_append(text, size, " of %s", human_bytes(b, device->memory_total));
}

static void add_activity(const struct gpu_device *device, char *text, size_t size)
{
	const struct {
		const struct gpu_level *level;
		const char *name;
	} parts[] = {
		{&device->sm_permille, "SMs"},
		{&device->tensor_permille, "tensor cores"},
		{&device->dram_permille, "memory bandwidth"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].level->ms)
			text_append(text, size, ", %s %.0f%%", parts[i].name,
				    gpu_level_mean(parts[i].level) / 10);
}

static void add_throttling(const struct gpu_device *device, char *text, size_t size)
{
	const struct {
		uint64_t ms;
		const char *cause;
	} causes[] = {
		{device->throttled_heat_ms, "heat"},
		{device->throttled_power_ms, "power"},
		{device->throttled_other_ms, "other causes"},
	};
	const char *before = "; throttled by ";

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		if (!causes[i].ms)
			continue;
		text_append(text, size, "%s%s %.0f%% of the time", before, causes[i].cause,
			    100 * (double)causes[i].ms / (double)device->throttle_of_ms);
		before = ", by ";
	}
}

void gpu_words(const struct gpu_device *device, char *text, size_t size)
{
	text[0] = '\0';
	text_append(text, size, "%s (%s%s%s):", device->id, device->driver,
		    device->name[0] && device->driver[0] ? ", " : "", device->name);
	if (device->busy_of_ns)
		text_append(text, size, " %.0f%% busy",
			    100 * (double)device->busy_ns / (double)device->busy_of_ns);
	else
		text_append(text, size, " utilization not known");
	add_memory(device, text, size);
	if (device->energy_ns)
		text_append(text, size, ", %.1f W", gpu_device_watts(device));
	if (device->temperature_readings)
		text_append(text, size, ", at most %.0f C", (double)device->millicelsius / 1000);
	if (device->clock_mhz.ms && device->clock_mhz.sum)
		text_append(text, size, ", %.2f GHz", gpu_level_mean(&device->clock_mhz) / 1000);
	add_activity(device, text, size);
	add_throttling(device, text, size);
	if (device->reason[0])
		text_append(text, size, "; %s", device->reason);
}
