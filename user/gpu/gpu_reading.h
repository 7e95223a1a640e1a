/* SPDX-License-Identifier: BSD-2-Clause */
/* What one look at the GPUs of the machine has found: figures of each device, and what each process
 * used of it since the last look. */
#ifndef PKBPF_GPU_GPU_READING_H
#define PKBPF_GPU_GPU_READING_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

#define GPU_DEVICES_MAX 32
#define GPU_USES_MAX	4096
#define GPU_ID_SIZE	32
#define GPU_NAME_SIZE	64
#define GPU_DRIVER_SIZE 16
#define GPU_REASON_SIZE 160

enum gpu_known {
	GPU_HAS_BUSY = 1 << 0,
	GPU_HAS_MEMORY = 1 << 1,
	GPU_HAS_POWER = 1 << 2,
	GPU_HAS_ENERGY = 1 << 3,
	GPU_HAS_TEMPERATURE = 1 << 4,
	GPU_HAS_CLOCK = 1 << 5,
	GPU_HAS_THROTTLE = 1 << 6,
	GPU_HAS_TOTAL = 1 << 7, /* of memory */
	/* By counters of the device, since the last look. */
	GPU_HAS_SM = 1 << 8,
	GPU_HAS_TENSOR = 1 << 9,
	GPU_HAS_DRAM = 1 << 10,
	GPU_HAS_PCIE = 1 << 11,
	GPU_HAS_NVLINK = 1 << 12,
};

/* Why a clock is lower than it could be. */
enum gpu_throttle {
	GPU_THROTTLED_POWER = 1 << 0,
	GPU_THROTTLED_HEAT = 1 << 1,
	GPU_THROTTLED_OTHER = 1 << 2,
};

/* What parts of a device did. */
struct gpu_activity {
	/* Time in which multiprocessors had work, and tensor cores; used bandwidth of its memory.
	 */
	uint32_t sm_permille, tensor_permille, dram_permille;
	uint32_t reserved;
	uint64_t pcie_tx, pcie_rx, nvlink_tx, nvlink_rx; /* bytes a second, from and to it */
};

struct gpu_reading {
	char id[GPU_ID_SIZE]; /* "0000:03:00.0"; of a device without PCI its card or driver */
	char name[GPU_NAME_SIZE], driver[GPU_DRIVER_SIZE]; /* not escaped; "": not known */
	char reason[GPU_REASON_SIZE]; /* why figures are missing; "": none are, or it is not known
				       */
	unsigned int known;	      /* enum gpu_known */
	uint32_t busy_permille;	      /* of the time since the last look */
	uint64_t memory_used, memory_total; /* bytes */
	uint64_t power_mw, energy_uj;	    /* energy: a counter that only grows */
	uint64_t millicelsius, clock_hz;
	unsigned int throttle; /* enum gpu_throttle, now */
	struct gpu_activity activity;
};

struct gpu_use {
	uint32_t device; /* index in the look */
	uint32_t pid;
	unsigned int known; /* GPU_HAS_BUSY, GPU_HAS_MEMORY */
	uint64_t busy_ns;   /* since the last look, of its busiest kind of engine */
	uint64_t memory;    /* bytes, now */
};

struct gpu_look { /* zero-initialized: empty */
	struct gpu_reading devices[GPU_DEVICES_MAX];
	size_t device_count;
	ARRAY_OF(struct gpu_use) uses;
	uint64_t ended; /* users that have ended since the last look: their last part is unknown */
	uint64_t left_out; /* devices and uses without room */
	uint64_t untimed;  /* users of devices without times from their driver */
};

/* The device with this id, made if there is none; NULL: no room. */
struct gpu_reading *gpu_look_device(struct gpu_look *look, const char *id);
/* The use of a device by a process, made if there is none; NULL: no room, or out of memory. */
struct gpu_use *gpu_look_use(struct gpu_look *look, uint32_t device, uint32_t pid);
void gpu_look_clear(struct gpu_look *look);

#endif
