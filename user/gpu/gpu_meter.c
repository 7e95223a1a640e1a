// SPDX-License-Identifier: BSD-2-Clause
#include "gpu/gpu_meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "gpu/drm_clients.h"
#include "gpu/drm_device.h"
#include "machine/sysfs_value.h"

struct gpu_meter {
	const char *root;
	struct nvml_keeper *nvml; /* NULL: NVML is not asked */
	struct drm_clients *clients;
	uint64_t looked_ns; /* 0: never */
};

static bool note_entry(void *context, const char *name)
{
	bool *has_any = context;

	(void)name;
	*has_any = true;
	return false;
}

bool gpu_meter_has_drm(const char *root)
{
	bool has_any = false;

	sysfs_each(root, "/dev/dri", note_entry, &has_any);
	sysfs_each(root, "/dev/accel", note_entry, &has_any);
	return has_any;
}

bool gpu_meter_has_nvidia(const char *root)
{
	/* dxg: of the Windows subsystem for Linux. */
	static const char *const paths[] = {"/proc/driver/nvidia/version", "/dev/nvidiactl",
					    "/dev/dxg"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		char path[2 * SYSFS_PATH_SIZE];

		snprintf(path, sizeof(path), "%.900s%s", root, paths[i]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

struct gpu_meter *gpu_meter_new(const char *root, struct nvml_keeper *nvml)
{
	struct gpu_meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return NULL;
	meter->root = root;
	meter->nvml = nvml;
	meter->clients = drm_clients_new(root);
	if (!meter->clients) {
		free(meter);
		return NULL;
	}
	return meter;
}

void gpu_meter_free(struct gpu_meter *meter)
{
	if (!meter)
		return;
	drm_clients_free(meter->clients);
	free(meter);
}

static void add_nvml_use(struct gpu_look *look, uint32_t device, const struct gpu_use *told,
			 uint64_t since_ns)
{
	struct gpu_use *use = gpu_look_use(look, device, told->pid);

	if (!use)
		return;
	use->known |= told->known;
	use->memory = told->memory;
	use->busy_ns = since_ns / 100 * told->busy_ns;
}

/* NVML looks each second, too: its newest look is that of now. */
static void look_at_nvml(struct nvml_keeper *nvml, uint64_t since_ns, struct gpu_look *look)
{
	const struct gpu_look *told;
	uint32_t numbers[GPU_DEVICES_MAX];
	const char *reason;

	nvml_keeper_read(nvml);
	told = nvml_keeper_look(nvml, &reason);
	if (!told && reason[0]) {
		struct gpu_reading *device = gpu_look_device(look, "NVIDIA");

		if (device) {
			snprintf(device->driver, sizeof(device->driver), "nvidia");
			snprintf(device->reason, sizeof(device->reason), "%s", reason);
		}
	}
	for (size_t i = 0; told && i < told->device_count; i++) {
		struct gpu_reading *device = gpu_look_device(look, told->devices[i].id);

		numbers[i] = device ? (uint32_t)(device - look->devices) : UINT32_MAX;
		if (device)
			*device = told->devices[i];
	}
	if (!told)
		return;
	array_foreach(&told->uses, use)
		if (numbers[use->device] != UINT32_MAX)
			add_nvml_use(look, numbers[use->device], use, since_ns);
}

void gpu_meter_look(struct gpu_meter *meter, uint64_t now_ns, struct gpu_look *ret_look)
{
	uint64_t since_ns = meter->looked_ns ? now_ns - meter->looked_ns : 0;

	drm_devices_look(meter->root, ret_look);
	/* Without a device no process can have one open. */
	if (gpu_meter_has_drm(meter->root))
		drm_clients_look(meter->clients, now_ns, since_ns, ret_look);
	if (meter->nvml)
		look_at_nvml(meter->nvml, since_ns, ret_look);
	meter->looked_ns = now_ns;
}
