// SPDX-License-Identifier: BSD-2-Clause
#include "gpu/gpu_reading.h"

#include <stdio.h>
#include <string.h>

struct gpu_reading *gpu_look_device(struct gpu_look *look, const char *id)
{
	struct gpu_reading *device;

	for (size_t i = 0; i < look->device_count; i++)
		if (strcmp(look->devices[i].id, id) == 0)
			return &look->devices[i];
	if (look->device_count == GPU_DEVICES_MAX) {
		look->left_out++;
		return NULL;
	}
	device = &look->devices[look->device_count++];
	*device = (struct gpu_reading){.known = 0};
	snprintf(device->id, sizeof(device->id), "%.*s", GPU_ID_SIZE - 1, id);
	return device;
}

struct gpu_use *gpu_look_use(struct gpu_look *look, uint32_t device, uint32_t pid)
{
	struct gpu_use *use;

	array_foreach(&look->uses, each)
		if (each->device == device && each->pid == pid)
			return each;
	use = look->uses.count < GPU_USES_MAX ? array_add(&look->uses) : NULL;
	if (!use) {
		look->left_out++;
		return NULL;
	}
	use->device = device;
	use->pid = pid;
	return use;
}

void gpu_look_clear(struct gpu_look *look)
{
	array_free(&look->uses);
	*look = (struct gpu_look){.device_count = 0};
}
