/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of the process that runs NVIDIA's library: a packet each for a device, for a process on
 * a device, for the end of a look, and for the end of that process. The library may write anything
 * anywhere there, so nothing is believed here: what cannot be is dropped, and counted.
 */
#ifndef PKBPF_GPU_NVML_MESSAGE_H
#define PKBPF_GPU_NVML_MESSAGE_H

#include <stdbool.h>

#include "gpu/gpu_reading.h"

#define NVML_MAGIC 0x4e564d31u /* "NVM1" */

enum nvml_kind {
	NVML_DEVICE = 1,
	NVML_USE = 2,
	NVML_LOOK = 3,	/* a look is complete */
	NVML_ENDED = 4, /* of the keeper: there are no figures for now; reason says why */
};

/* known: enum gpu_known */
struct nvml_message {
	uint32_t magic, kind;
	uint32_t device; /* number, of NVML_DEVICE and NVML_USE */
	uint32_t known;
	uint64_t memory_used, memory_total;
	union {
		struct {
			char id[GPU_ID_SIZE], name[GPU_NAME_SIZE], reason[GPU_REASON_SIZE];
			uint64_t energy_uj;
			uint32_t busy_percent, power_mw, celsius, clock_mhz, throttle, padding;
			struct gpu_activity activity;
		} of_device;
		struct {
			uint32_t pid, busy_percent;
		} of_use;
		char reason[GPU_REASON_SIZE];
	};
};

/* What has arrived since the last look. */
struct nvml_told {	      /* zero-initialized: nothing */
	struct gpu_look look; /* complete when is_complete; busy_ns of uses is their percentage */
	bool is_complete, has_ended;
	char reason[GPU_REASON_SIZE]; /* has_ended */
	uint64_t rejected;	      /* packets that were none */
	uint64_t unbelieved;	      /* figures that cannot be */
};

/* Takes a packet of this size in. */
void nvml_told_take(struct nvml_told *told, const void *bytes, size_t size);
void nvml_told_clear(struct nvml_told *told);

#endif
