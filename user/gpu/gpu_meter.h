/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks at all GPUs of the machine, by all sources of their figures. */
#ifndef PKBPF_GPU_GPU_METER_H
#define PKBPF_GPU_GPU_METER_H

#include <stdbool.h>

#include "base/error.h"
#include "gpu/gpu_reading.h"
#include "gpu/nvml_keeper.h"

struct gpu_meter;

/* root: "" on the machine itself; nvml: asks NVIDIA's library, NULL: it is not asked. Both
 * borrowed. NULL: out of memory. */
struct gpu_meter *gpu_meter_new(const char *root, struct nvml_keeper *nvml);
/* Fills an empty look: figures of this moment, and what was used since the last one. The first look
 * has no times of use. */
void gpu_meter_look(struct gpu_meter *meter, uint64_t now_ns, struct gpu_look *ret_look);
void gpu_meter_free(struct gpu_meter *meter);
/* Does the machine have a device of which drivers of the kernel have figures? */
bool gpu_meter_has_drm(const char *root);
/* Is NVIDIA's driver loaded? */
bool gpu_meter_has_nvidia(const char *root);

#endif
