// SPDX-License-Identifier: BSD-2-Clause
#include "profile/account/gpu_list.h"

#include <errno.h>
#include <string.h>

#include "profile/account/account.h"

#define NS_PER_S     1e9
#define UJ_PER_JOULE 1e6

void gpu_list_done(struct gpu_list *list)
{
	array_free(&list->devices);
	array_free(&list->processes);
}

static void add_level(struct gpu_level *into, const struct gpu_level *more)
{
	into->sum += more->sum;
	into->ms += more->ms;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_device(struct gpu_device *into, const struct gpu_device *more)
{
	if (more->name[0])
		memcpy(into->name, more->name, sizeof(into->name));
	if (more->driver[0])
		memcpy(into->driver, more->driver, sizeof(into->driver));
	memcpy(into->reason, more->reason, sizeof(into->reason));
	into->busy_ns += more->busy_ns;
	into->busy_of_ns += more->busy_of_ns;
	add_level(&into->memory_kib, &more->memory_kib);
	into->memory_peak = larger(into->memory_peak, more->memory_peak);
	into->memory_total = larger(into->memory_total, more->memory_total);
	into->energy_uj += more->energy_uj;
	into->energy_ns += more->energy_ns;
	into->millicelsius = larger(into->millicelsius, more->millicelsius);
	into->temperature_readings += more->temperature_readings;
	add_level(&into->clock_mhz, &more->clock_mhz);
	into->throttled_power_ms += more->throttled_power_ms;
	into->throttled_heat_ms += more->throttled_heat_ms;
	into->throttled_other_ms += more->throttled_other_ms;
	into->throttle_of_ms += more->throttle_of_ms;
	into->throttled_ms += more->throttled_ms;
	add_level(&into->sm_permille, &more->sm_permille);
	add_level(&into->tensor_permille, &more->tensor_permille);
	add_level(&into->dram_permille, &more->dram_permille);
	add_level(&into->pcie_tx_kib, &more->pcie_tx_kib);
	add_level(&into->pcie_rx_kib, &more->pcie_rx_kib);
	add_level(&into->nvlink_tx_kib, &more->nvlink_tx_kib);
	add_level(&into->nvlink_rx_kib, &more->nvlink_rx_kib);
}

int64_t gpu_list_add_device(struct gpu_list *list, const struct gpu_device *device)
{
	struct gpu_device *item;

	for (size_t i = 0; i < list->devices.count; i++) {
		if (strcmp(list->devices.items[i].id, device->id) != 0)
			continue;
		add_device(&list->devices.items[i], device);
		return (int64_t)i;
	}
	if (list->devices.count == GPU_LIST_DEVICES_MAX)
		return -ENOSPC;
	item = array_add(&list->devices);
	if (!item)
		return -ENOMEM;
	*item = *device;
	return (int64_t)list->devices.count - 1;
}

static void add_process(struct gpu_process *into, const struct gpu_process *more)
{
	if (more->begin_ns < into->begin_ns)
		into->begin_ns = more->begin_ns;
	into->end_ns = larger(into->end_ns, more->end_ns);
	into->busy_ns += more->busy_ns;
	into->busy_of_ns += more->busy_of_ns;
	add_level(&into->memory_kib, &more->memory_kib);
	into->memory_peak = larger(into->memory_peak, more->memory_peak);
}

int gpu_list_add_process(struct gpu_list *list, const struct gpu_process *process)
{
	struct gpu_process *item;

	array_foreach(&list->processes, each) {
		if (each->pid != process->pid || each->device != process->device ||
		    strcmp(each->comm, process->comm) != 0)
			continue;
		add_process(each, process);
		return 0;
	}
	if (list->processes.count == GPU_LIST_PROCESSES_MAX)
		return -ENOSPC;
	item = array_add(&list->processes);
	if (!item)
		return -ENOMEM;
	*item = *process;
	return 0;
}

bool gpu_list_busy_percent(const struct gpu_list *list, double *ret_percent)
{
	double busy_ns = 0, of_ns = 0;

	array_foreach(&list->devices, device) {
		busy_ns += (double)device->busy_ns;
		of_ns += (double)device->busy_of_ns;
	}
	*ret_percent = of_ns > 0 ? 100 * busy_ns / of_ns : 0;
	return of_ns > 0;
}

bool gpu_list_memory_percent(const struct gpu_list *list, double *ret_percent)
{
	bool is_known = false;

	*ret_percent = 0;
	array_foreach(&list->devices, device) {
		double percent;

		if (!device->memory_total || !device->memory_kib.ms)
			continue;
		percent = 100 * (double)device->memory_peak / (double)device->memory_total;
		*ret_percent = percent > *ret_percent ? percent : *ret_percent;
		is_known = true;
	}
	return is_known;
}

bool gpu_list_celsius(const struct gpu_list *list, double *ret_celsius)
{
	bool is_known = false;

	*ret_celsius = 0;
	array_foreach(&list->devices, device) {
		double celsius = (double)device->millicelsius / 1000;

		is_known |= device->temperature_readings > 0;
		*ret_celsius = celsius > *ret_celsius ? celsius : *ret_celsius;
	}
	return is_known;
}

bool gpu_list_throttled_percent(const struct gpu_list *list, double *ret_percent)
{
	bool is_known = false;

	*ret_percent = 0;
	array_foreach(&list->devices, device) {
		/* Recordings that say nothing of all causes together have the largest one. */
		uint64_t one = larger(larger(device->throttled_power_ms, device->throttled_heat_ms),
				      device->throttled_other_ms);
		uint64_t ms = larger(device->throttled_ms, one);
		double percent;

		if (!device->throttle_of_ms)
			continue;
		percent = 100 * (double)ms / (double)device->throttle_of_ms;
		*ret_percent = percent > *ret_percent ? percent : *ret_percent;
		is_known = true;
	}
	return is_known;
}

/* Of a level at this offset of each device. */
static bool mean_percent(const struct gpu_list *list, size_t offset, double *ret_percent)
{
	struct gpu_level all = {0};

	array_foreach(&list->devices, device)
		add_level(&all, (const struct gpu_level *)((const char *)device + offset));
	*ret_percent = gpu_level_mean(&all) / 10;
	return all.ms;
}

bool gpu_list_sm_percent(const struct gpu_list *list, double *ret_percent)
{
	return mean_percent(list, offsetof(struct gpu_device, sm_permille), ret_percent);
}

bool gpu_list_tensor_percent(const struct gpu_list *list, double *ret_percent)
{
	return mean_percent(list, offsetof(struct gpu_device, tensor_permille), ret_percent);
}

bool gpu_list_dram_percent(const struct gpu_list *list, double *ret_percent)
{
	return mean_percent(list, offsetof(struct gpu_device, dram_permille), ret_percent);
}

double gpu_level_mean(const struct gpu_level *level)
{
	return level->ms ? (double)level->sum / (double)level->ms : 0;
}

double gpu_device_watts(const struct gpu_device *device)
{
	return device->energy_ns ? (double)device->energy_uj / UJ_PER_JOULE /
					   ((double)device->energy_ns / NS_PER_S)
				 : 0;
}

/* ---- the account ---- */

static const struct recorded_column device_columns[] = {
	COLUMN(TEXT, 1, struct gpu_device, id),
	COLUMN(TEXT, 2, struct gpu_device, name),
	COLUMN(TEXT, 3, struct gpu_device, driver),
	COLUMN(TEXT, 4, struct gpu_device, reason),
	COLUMN(NUMBER, 5, struct gpu_device, busy_ns),
	COLUMN(NUMBER, 6, struct gpu_device, busy_of_ns),
	COLUMN(NUMBER, 7, struct gpu_device, memory_kib.sum),
	COLUMN(NUMBER, 8, struct gpu_device, memory_kib.ms),
	COLUMN(NUMBER, 9, struct gpu_device, memory_peak),
	COLUMN(NUMBER, 10, struct gpu_device, memory_total),
	COLUMN(NUMBER, 11, struct gpu_device, energy_uj),
	COLUMN(NUMBER, 12, struct gpu_device, energy_ns),
	COLUMN(NUMBER, 13, struct gpu_device, millicelsius),
	COLUMN(NUMBER, 14, struct gpu_device, temperature_readings),
	COLUMN(NUMBER, 15, struct gpu_device, clock_mhz.sum),
	COLUMN(NUMBER, 16, struct gpu_device, clock_mhz.ms),
	COLUMN(NUMBER, 17, struct gpu_device, throttled_power_ms),
	COLUMN(NUMBER, 18, struct gpu_device, throttled_heat_ms),
	COLUMN(NUMBER, 19, struct gpu_device, throttled_other_ms),
	COLUMN(NUMBER, 20, struct gpu_device, throttle_of_ms),
	COLUMN(NUMBER, 21, struct gpu_device, sm_permille.sum),
	COLUMN(NUMBER, 22, struct gpu_device, sm_permille.ms),
	COLUMN(NUMBER, 23, struct gpu_device, tensor_permille.sum),
	COLUMN(NUMBER, 24, struct gpu_device, tensor_permille.ms),
	COLUMN(NUMBER, 25, struct gpu_device, dram_permille.sum),
	COLUMN(NUMBER, 26, struct gpu_device, dram_permille.ms),
	COLUMN(NUMBER, 27, struct gpu_device, pcie_tx_kib.sum),
	COLUMN(NUMBER, 28, struct gpu_device, pcie_tx_kib.ms),
	COLUMN(NUMBER, 29, struct gpu_device, pcie_rx_kib.sum),
	COLUMN(NUMBER, 30, struct gpu_device, pcie_rx_kib.ms),
	COLUMN(NUMBER, 31, struct gpu_device, nvlink_tx_kib.sum),
	COLUMN(NUMBER, 32, struct gpu_device, nvlink_tx_kib.ms),
	COLUMN(NUMBER, 33, struct gpu_device, nvlink_rx_kib.sum),
	COLUMN(NUMBER, 34, struct gpu_device, nvlink_rx_kib.ms),
	COLUMN(NUMBER, 35, struct gpu_device, throttled_ms),
};
ALL_MEMBERS(struct gpu_device, 520);

static const struct recorded_column process_columns[] = {
	COLUMN(PID, 1, struct gpu_process, pid),
	COLUMN(PLACE, 2, struct gpu_process, device),
	COLUMN(TEXT, 3, struct gpu_process, comm),
	COLUMN(TIME_STEP, 4, struct gpu_process, begin_ns),
	COLUMN(TIME_STEP, 5, struct gpu_process, end_ns),
	COLUMN(NUMBER, 6, struct gpu_process, busy_ns),
	COLUMN(NUMBER, 7, struct gpu_process, busy_of_ns),
	COLUMN(NUMBER, 8, struct gpu_process, memory_kib.sum),
	COLUMN(NUMBER, 9, struct gpu_process, memory_kib.ms),
	COLUMN(NUMBER, 10, struct gpu_process, memory_peak),
};
ALL_MEMBERS(struct gpu_process, 88);

static int64_t add_device_row(void *account, const void *row)
{
	return gpu_list_add_device(account, row);
}

static int64_t add_process_row(void *account, const void *row)
{
	return gpu_list_add_process(account, row);
}

static void done(void *account)
{
	gpu_list_done(account);
}

static const struct account_table tables[] = {
	{.recorded = RECORDED_TABLE(69, struct gpu_device, device_columns),
	 .rows = ACCOUNT_ROWS(struct gpu_list, devices),
	 .add = add_device_row,
	 .no_room = PKBPF_COUNTER_GPU_LEFT_OUT},
	{.recorded = RECORDED_TABLE(70, struct gpu_process, process_columns),
	 .rows = ACCOUNT_ROWS(struct gpu_list, processes),
	 .add = add_process_row,
	 .no_room = PKBPF_COUNTER_GPU_LEFT_OUT},
};

const struct account_ops account_ops_gpus = {
	.size = sizeof(struct gpu_list),
	.done = done,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
};
