/* SPDX-License-Identifier: BSD-2-Clause */
/* GPUs in an interval, and what processes used of them. All are sums of readings over the time that
 * they stand for: what two intervals have adds up, and their means follow. One owner thread. */
#ifndef PKBPF_PROFILE_ACCOUNT_GPU_LIST_H
#define PKBPF_PROFILE_ACCOUNT_GPU_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/event.h>

#include "base/array.h"

#define GPU_LIST_DEVICES_MAX   64
#define GPU_LIST_PROCESSES_MAX 4096

/* A level over time: the sum of values times milliseconds, and these. */
struct gpu_level {
	uint64_t sum, ms;
};

struct gpu_device {
	char id[32]; /* "0000:03:00.0"; of a device without PCI its card or driver. Not escaped */
	char name[64], driver[16]; /* not escaped; "": not known */
	char reason[160];	   /* why figures are missing; "": none are, or it is not known */
	uint64_t busy_ns, busy_of_ns;
	struct gpu_level memory_kib;
	uint64_t memory_peak, memory_total; /* bytes; 0: not known */
	uint64_t energy_uj, energy_ns;
	uint64_t millicelsius, temperature_readings; /* the highest */
	struct gpu_level clock_mhz;
	/* Several causes may be there at a time; throttled_ms: of any. */
	uint64_t throttled_power_ms, throttled_heat_ms, throttled_other_ms, throttle_of_ms;
	uint64_t throttled_ms;
	/* Time in which multiprocessors and tensor cores had work, used bandwidth of its memory;
	 * KiB a second from and to it. */
	struct gpu_level sm_permille, tensor_permille, dram_permille;
	struct gpu_level pcie_tx_kib, pcie_rx_kib, nvlink_tx_kib, nvlink_rx_kib;
};

struct gpu_process {
	uint32_t pid;
	uint32_t device; /* index */
	char comm[PKBPF_COMM_SIZE + 1];
	uint64_t begin_ns, end_ns; /* of what was seen, CLOCK_MONOTONIC */
	uint64_t busy_ns, busy_of_ns;
	struct gpu_level memory_kib;
	uint64_t memory_peak; /* bytes */
};

struct gpu_list { /* zero-initialized: empty */
	ARRAY_OF(struct gpu_device) devices;
	ARRAY_OF(struct gpu_process) processes;
};

void gpu_list_done(struct gpu_list *list);
/* Adds to the device with this id, and returns its index. -ENOMEM; -ENOSPC: too many. */
int64_t gpu_list_add_device(struct gpu_list *list, const struct gpu_device *device);
/* Adds to the process with this pid and comm on this device. Errors as above. */
int gpu_list_add_process(struct gpu_list *list, const struct gpu_process *process);
/* false: there is none of which it is known. */
bool gpu_list_busy_percent(const struct gpu_list *list, double *ret_percent);
/* Of the device that was hottest, in degrees Celsius. */
bool gpu_list_celsius(const struct gpu_list *list, double *ret_celsius);
/* Of the device that was slowed down longest: the share of the time, whatever the cause. */
bool gpu_list_throttled_percent(const struct gpu_list *list, double *ret_percent);
/* A mean of all devices that have it: time in which multiprocessors had work; tensor cores; used
 * bandwidth of memory. */
bool gpu_list_sm_percent(const struct gpu_list *list, double *ret_percent);
bool gpu_list_tensor_percent(const struct gpu_list *list, double *ret_percent);
bool gpu_list_dram_percent(const struct gpu_list *list, double *ret_percent);
/* Of the device with least room: the largest share of its memory that was in use at a time. */
bool gpu_list_memory_percent(const struct gpu_list *list, double *ret_percent);
/* 0: not known. */
double gpu_level_mean(const struct gpu_level *level);
double gpu_device_watts(const struct gpu_device *device);

#endif
