// SPDX-License-Identifier: BSD-2-Clause
/* Writes the GPUs, and what each process used of each. */
#include "export/json/json_sections.h"

#define KIB	     1024
#define UJ_PER_JOULE 1e6
#define HZ_PER_MHZ   1e6

static void write_text(struct json_writer *writer, const char *key, const char *text)
{
	if (text[0])
		json_writer_string(writer, key, text);
}

static void write_memory(struct json_writer *writer, const struct gpu_level *kib, uint64_t peak)
{
	if (!kib->ms)
		return;
	json_writer_u64(writer, "memory_mean_bytes", (uint64_t)(gpu_level_mean(kib) * KIB));
	json_writer_u64(writer, "memory_peak_bytes", peak);
}

static void write_throttling(struct json_writer *writer, const struct gpu_device *device)
{
	double whole = (double)device->throttle_of_ms;

	if (!device->throttle_of_ms)
		return;
	json_writer_object_begin(writer, "throttled_percent");
	json_writer_decimal(writer, "heat", 100 * (double)device->throttled_heat_ms / whole);
	json_writer_decimal(writer, "power", 100 * (double)device->throttled_power_ms / whole);
	json_writer_decimal(writer, "other", 100 * (double)device->throttled_other_ms / whole);
	json_writer_object_end(writer);
}

static void write_level(struct json_writer *writer, const char *key, const struct gpu_level *level,
			double factor)
{
	if (level->ms)
		json_writer_decimal(writer, key, gpu_level_mean(level) * factor);
}

/* By counters of the device. */
static void write_activity(struct json_writer *writer, const struct gpu_device *device)
{
	if (!device->sm_permille.ms && !device->dram_permille.ms && !device->pcie_tx_kib.ms)
		return;
	json_writer_object_begin(writer, "activity");
	write_level(writer, "sm_percent", &device->sm_permille, 0.1);
	write_level(writer, "tensor_percent", &device->tensor_permille, 0.1);
	write_level(writer, "dram_percent", &device->dram_permille, 0.1);
	write_level(writer, "pcie_tx_bytes_per_s", &device->pcie_tx_kib, KIB);
	write_level(writer, "pcie_rx_bytes_per_s", &device->pcie_rx_kib, KIB);
	write_level(writer, "nvlink_tx_bytes_per_s", &device->nvlink_tx_kib, KIB);
	write_level(writer, "nvlink_rx_bytes_per_s", &device->nvlink_rx_kib, KIB);
	json_writer_object_end(writer);
}

static void write_process(struct json_writer *writer, const struct gpu_process *process)
{
	json_writer_object_begin(writer, NULL);
	json_writer_u64(writer, "pid", process->pid);
	json_writer_string(writer, "comm", process->comm);
	if (process->busy_of_ns)
		json_writer_u64(writer, "time_ns", process->busy_ns);
	write_memory(writer, &process->memory_kib, process->memory_peak);
	json_writer_object_end(writer);
}

static void write_device(struct json_writer *writer, const struct gpu_list *list, size_t number)
{
	const struct gpu_device *device = &list->devices.items[number];

	json_writer_object_begin(writer, NULL);
	json_writer_string(writer, "id", device->id);
	write_text(writer, "driver", device->driver);
	write_text(writer, "name", device->name);
	write_text(writer, "missing", device->reason);
	if (device->busy_of_ns)
		json_writer_decimal(writer, "util_percent",
				    100 * (double)device->busy_ns / (double)device->busy_of_ns);
	write_memory(writer, &device->memory_kib, device->memory_peak);
	if (device->memory_total)
		json_writer_u64(writer, "memory_total_bytes", device->memory_total);
	if (device->energy_ns) {
		json_writer_decimal(writer, "energy_joules",
				    (double)device->energy_uj / UJ_PER_JOULE);
		json_writer_decimal(writer, "power_watts", gpu_device_watts(device));
	}
	if (device->temperature_readings)
		json_writer_decimal(writer, "temperature_max_celsius",
				    (double)device->millicelsius / 1000);
	if (device->clock_mhz.ms)
		json_writer_u64(writer, "clock_mean_hz",
				(uint64_t)(gpu_level_mean(&device->clock_mhz) * HZ_PER_MHZ));
	write_throttling(writer, device);
	write_activity(writer, device);
	json_writer_array_begin(writer, "processes");
	array_foreach(&list->processes, process)
		if (process->device == number)
			write_process(writer, process);
	json_writer_array_end(writer);
	json_writer_object_end(writer);
}

void json_gpus(struct json_writer *writer, const struct profile *profile)
{
	const struct gpu_list *list = profile_gpus(profile);

	if (!list->devices.count)
		return;
	json_writer_array_begin(writer, "gpus");
	for (size_t i = 0; i < list->devices.count; i++)
		write_device(writer, list, i);
	json_writer_array_end(writer);
}
