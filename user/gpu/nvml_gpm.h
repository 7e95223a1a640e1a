/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of what parts of an NVIDIA device do (GPM; Hopper and newer), in the process that runs
 * its library. Values are of the time between two samples.
 *
 * Source: nvml.h of CUDA 12 and 13: nvmlGpmMetricsGet_t of version 1, in which the number of
 * metrics says how many of the array are used, and nvmlGpmMetricId_t.
 */
#ifndef PKBPF_GPU_NVML_GPM_H
#define PKBPF_GPU_NVML_GPM_H

#include "gpu/nvml_message.h"

/* Of nvmlGpmMetricsGet_t; it has more of them. */
#define NVML_GPM_METRICS 7

struct nvml_gpm_metric {
	unsigned int id;
	int result;
	double value;
	char *names[3]; /* short, long, unit */
};

struct nvml_gpm_request {
	unsigned int version, count;
	void *samples[2];
	struct nvml_gpm_metric metrics[NVML_GPM_METRICS + 400]; /* those that a library may clear */
};

struct nvml_gpm_device {
	void *samples[2]; /* NULL: the device has no such counters, or it is not known yet */
	unsigned int newest;
	bool was_asked, has_sample;
};

struct nvml_gpm { /* zero-initialized */
	int (*support)(void *device, unsigned int *version_and_support);
	int (*sample_new)(void **sample);
	int (*sample)(void *device, void *sample);
	int (*metrics)(struct nvml_gpm_request *request);
	struct nvml_gpm_device devices[GPU_DEVICES_MAX];
	struct nvml_gpm_request request;
};

/* Takes a sample; from the second one on the message has what was between. */
void nvml_gpm_look(struct nvml_gpm *gpm, unsigned int number, void *device,
		   struct nvml_message *message);

#endif
