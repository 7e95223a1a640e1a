// SPDX-License-Identifier: BSD-2-Clause
#include "gpu/gpu_meter.h"

#include <stdlib.h>

#include "gpu/drm_clients.h"
#include "gpu/drm_device.h"
#include "machine/sysfs_value.h"

struct gpu_meter {
	const char *root;
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

struct gpu_meter *gpu_meter_new(const char *root)
{
	struct gpu_meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return NULL;
	meter->root = root;
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

void gpu_meter_look(struct gpu_meter *meter, uint64_t now_ns, struct gpu_look *ret_look)
{
	uint64_t since_ns = meter->looked_ns ? now_ns - meter->looked_ns : 0;

	drm_devices_look(meter->root, ret_look);
	/* Without a device no process can have one open. */
	if (gpu_meter_has_drm(meter->root))
		drm_clients_look(meter->clients, now_ns, since_ns, ret_look);
	meter->looked_ns = now_ns;
}
