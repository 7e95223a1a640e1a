// SPDX-License-Identifier: BSD-2-Clause
#include "gpu/gpu_found.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text_append.h"
#include "gpu/drm_device.h"
#include "gpu/gpu_meter.h"
#include "gpu/nvml_keeper.h"

/* A little longer than a library that hangs may take. */
#define WAIT_NS (12 * NS_PER_SECOND)

/* Until the first answer of the library. */
static void await_nvml(struct nvml_keeper *keeper)
{
	uint64_t end_ns = clock_now_ns() + WAIT_NS, now_ns;
	struct pollfd told = {.fd = nvml_keeper_fd(keeper), .events = POLLIN};
	const char *reason;

	while (!nvml_keeper_read(keeper)) {
		nvml_keeper_look(keeper, &reason);
		now_ns = clock_now_ns();
		if (reason[0] || now_ns >= end_ns)
			return;
		poll(&told, 1, (int)((end_ns - now_ns) / NS_PER_MS) + 1);
	}
}

/* NULL: its driver is not loaded, or it cannot be asked. */
static struct nvml_keeper *ask_nvml(const char *root)
{
	const struct nvml_keeper_options options = {.library = NULL};
	struct nvml_keeper *keeper = NULL;
	struct error error;

	if (!gpu_meter_has_nvidia(root) || nvml_keeper_start(&options, &keeper, &error) < 0)
		return NULL;
	await_nvml(keeper);
	return keeper;
}

static void name_devices(const struct gpu_look *look, char *text, size_t size)
{
	for (size_t i = 0; i < look->device_count; i++) {
		const struct gpu_reading *device = &look->devices[i];

		text_append(text, size, "%s%s (%s): %s", i ? ", " : "", device->id,
			    device->driver[0] ? device->driver : "driver unknown",
			    device->reason[0] ? device->reason : "its driver has no figures");
	}
}

bool gpu_found(const char *root, struct error *error)
{
	struct nvml_keeper *keeper = ask_nvml(root);
	struct gpu_meter *meter = gpu_meter_new(root, keeper);
	struct gpu_look look = {.device_count = 0};
	char text[ERROR_TEXT_SIZE / 2] = "";
	bool is_found = false;

	/* An idle device is known as one from the second look on. */
	for (int i = 0; meter && i < 2; i++) {
		gpu_look_clear(&look);
		gpu_meter_look(meter, clock_now_ns(), &look);
	}
	for (size_t i = 0; i < look.device_count; i++)
		is_found |= look.devices[i].known != 0;
	name_devices(&look, text, sizeof(text));
	if (!look.device_count)
		error_set(error, ENODEV,
			  "no card in /sys/class/drm, and no NVIDIA driver is loaded; load the "
			  "driver of the GPU, if there is one");
	else if (!is_found)
		error_set(
			error, ENOTSUP,
			"no figures (%s); update the driver, or install libnvidia-ml for NVIDIA's",
			text);
	gpu_look_clear(&look);
	gpu_meter_free(meter);
	nvml_keeper_stop(keeper);
	return is_found;
}
