// SPDX-License-Identifier: BSD-2-Clause
#include "gpu/nvml_message.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

/* Beyond what a device of the next years can be. */
#define MEMORY_MAX    (1ULL << 44)
#define POWER_MW_MAX  10000000
#define CELSIUS_MAX   150
#define CLOCK_MHZ_MAX 20000
#define PID_MAX	      (1U << 22)
#define RATE_MAX      (1ULL << 44) /* bytes a second */

void nvml_told_clear(struct nvml_told *told)
{
	gpu_look_clear(&told->look);
	*told = (struct nvml_told){.rejected = 0};
}

/* A text as the sender has it may be without an end. */
static void copy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%.*s", (int)strnlen(from, size - 1), from);
}

/* Drops what is not so. */
static void believe(struct nvml_told *told, unsigned int *known, unsigned int figure, bool is_so)
{
	if (!(*known & figure) || is_so)
		return;
	*known &= ~figure;
	told->unbelieved++;
}

#define ACTIVITY (GPU_HAS_SM | GPU_HAS_TENSOR | GPU_HAS_DRAM | GPU_HAS_PCIE | GPU_HAS_NVLINK)

static void believe_activity(struct nvml_told *told, unsigned int *known,
			     const struct gpu_activity *activity)
{
	believe(told, known, GPU_HAS_SM, activity->sm_permille <= 1000);
	believe(told, known, GPU_HAS_TENSOR, activity->tensor_permille <= 1000);
	believe(told, known, GPU_HAS_DRAM, activity->dram_permille <= 1000);
	believe(told, known, GPU_HAS_PCIE,
		activity->pcie_tx <= RATE_MAX && activity->pcie_rx <= RATE_MAX);
	believe(told, known, GPU_HAS_NVLINK,
		activity->nvlink_tx <= RATE_MAX && activity->nvlink_rx <= RATE_MAX);
}

static void take_device(struct nvml_told *told, const struct nvml_message *message)
{
	const unsigned int all = GPU_HAS_BUSY | GPU_HAS_MEMORY | GPU_HAS_POWER | GPU_HAS_ENERGY |
				 GPU_HAS_TEMPERATURE | GPU_HAS_CLOCK | GPU_HAS_THROTTLE |
				 GPU_HAS_TOTAL | ACTIVITY;
	struct gpu_reading *device;
	unsigned int known = message->known & all;

	/* The end of the look before did not arrive. */
	if (message->device == 0 && told->look.device_count)
		gpu_look_clear(&told->look);
	/* In order, each once, and before those that use them. */
	if (message->device != told->look.device_count || message->device >= GPU_DEVICES_MAX) {
		told->rejected++;
		return;
	}
	device = &told->look.devices[told->look.device_count++];
	*device = (struct gpu_reading){.driver = "nvidia"};
	copy(device->id, message->of_device.id, sizeof(device->id));
	copy(device->name, message->of_device.name, sizeof(device->name));
	copy(device->reason, message->of_device.reason, sizeof(device->reason));
	believe(told, &known, GPU_HAS_BUSY, message->of_device.busy_percent <= 100);
	believe(told, &known, GPU_HAS_TOTAL,
		message->memory_total && message->memory_total <= MEMORY_MAX);
	believe(told, &known, GPU_HAS_MEMORY,
		message->memory_used <= MEMORY_MAX &&
			(!(known & GPU_HAS_TOTAL) ||
			 message->memory_used <= message->memory_total));
	believe(told, &known, GPU_HAS_POWER, message->of_device.power_mw <= POWER_MW_MAX);
	believe(told, &known, GPU_HAS_TEMPERATURE, message->of_device.celsius <= CELSIUS_MAX);
	believe(told, &known, GPU_HAS_CLOCK, message->of_device.clock_mhz <= CLOCK_MHZ_MAX);
	believe_activity(told, &known, &message->of_device.activity);
	device->known = known;
	device->activity = message->of_device.activity;
	device->busy_permille = 10 * (known & GPU_HAS_BUSY ? message->of_device.busy_percent : 0);
	device->memory_used = known & GPU_HAS_MEMORY ? message->memory_used : 0;
	device->memory_total = known & GPU_HAS_TOTAL ? message->memory_total : 0;
	device->power_mw = message->of_device.power_mw;
	device->energy_uj = message->of_device.energy_uj;
	device->millicelsius = 1000ULL * message->of_device.celsius;
	device->clock_hz = 1000000ULL * message->of_device.clock_mhz;
	device->throttle = message->of_device.throttle &
			   (GPU_THROTTLED_POWER | GPU_THROTTLED_HEAT | GPU_THROTTLED_OTHER);
}

static void take_use(struct nvml_told *told, const struct nvml_message *message)
{
	unsigned int known = message->known & (GPU_HAS_BUSY | GPU_HAS_MEMORY);
	uint32_t pid = message->of_use.pid;
	struct gpu_use *use;

	if (message->device >= told->look.device_count || !pid || pid > PID_MAX) {
		told->rejected++;
		return;
	}
	believe(told, &known, GPU_HAS_BUSY, message->of_use.busy_percent <= 100);
	believe(told, &known, GPU_HAS_MEMORY, message->memory_used <= MEMORY_MAX);
	use = known ? gpu_look_use(&told->look, message->device, pid) : NULL;
	if (!use)
		return;
	/* By a sample, and once listed for computing and once for graphics. */
	if (known & GPU_HAS_BUSY && message->of_use.busy_percent > use->busy_ns)
		use->busy_ns = message->of_use.busy_percent;
	if (known & GPU_HAS_MEMORY && message->memory_used > use->memory)
		use->memory = message->memory_used;
	use->known |= known;
}

void nvml_told_take(struct nvml_told *told, const void *bytes, size_t size)
{
	struct nvml_message message;

	if (size != sizeof(message)) {
		told->rejected++;
		return;
	}
	memcpy(&message, bytes, sizeof(message));
	if (message.magic != NVML_MAGIC)
		message.kind = 0;
	switch (message.kind) {
	case NVML_DEVICE:
		take_device(told, &message);
		break;
	case NVML_USE:
		take_use(told, &message);
		break;
	case NVML_LOOK:
		told->is_complete = true;
		break;
	case NVML_ENDED:
		told->has_ended = true;
		copy(told->reason, message.reason, sizeof(told->reason));
		break;
	default:
		told->rejected++;
	}
}
