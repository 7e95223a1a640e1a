/* SPDX-License-Identifier: BSD-2-Clause */
/* GPUs as drivers show them in /sys/class/drm and in the sensors of hwmon: amdgpu, i915, xe, and
 * what others have of the same files. */
#ifndef PKBPF_GPU_DRM_DEVICE_H
#define PKBPF_GPU_DRM_DEVICE_H

#include "gpu/gpu_reading.h"

/* Adds each card and its figures of this moment. root: "" on the machine itself. */
void drm_devices_look(const char *root, struct gpu_look *look);

#endif
