// SPDX-License-Identifier: BSD-2-Clause
#include "live/live_gpu.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "machine/sysfs_value.h"

#define LOOK_NS	   NS_PER_SECOND
#define REGIONS_HZ 4
#define LOOK_RATIO 100
#define KIB	   1024
#define HZ_PER_MHZ 1000000

/* The time that a look stands for. */
struct span {
	uint64_t begin_ns, end_ns;
};

/* Those of spans that follow each other add up to that of all. */
static uint64_t span_ms(const struct span *span)
{
	return span->end_ns / NS_PER_MS - span->begin_ns / NS_PER_MS;
}

static void add_level(struct gpu_level *level, uint64_t value, uint64_t ms)
{
	level->sum += value * ms;
	level->ms += ms;
}

static const struct gpu_reading *last_of(const struct live_gpu *gpu, const char *id)
{
	for (size_t i = 0; i < gpu->last.device_count; i++)
		if (strcmp(gpu->last.devices[i].id, id) == 0)
			return &gpu->last.devices[i];
	return NULL;
}

/* By the counter of the device; of one that has none, its power is that of the whole time. */
static void add_energy(struct gpu_device *device, const struct gpu_reading *now,
		       const struct gpu_reading *last, const struct span *span)
{
	uint64_t passed_ns = span->end_ns - span->begin_ns;

	if (now->known & GPU_HAS_ENERGY) {
		/* A driver that was loaded anew counts from the beginning. */
		if (!last || !(last->known & GPU_HAS_ENERGY) || now->energy_uj < last->energy_uj)
			return;
		device->energy_uj = now->energy_uj - last->energy_uj;
	} else if (now->known & GPU_HAS_POWER) {
		device->energy_uj = (uint64_t)((double)now->power_mw * (double)passed_ns / 1e6);
	} else {
		return;
	}
	device->energy_ns = passed_ns;
}

/* By counters of the device: those of the time since its last look. */
static void add_activity(struct gpu_device *device, const struct gpu_reading *now, uint64_t ms)
{
	const struct gpu_activity *activity = &now->activity;

	if (now->known & GPU_HAS_SM)
		add_level(&device->sm_permille, activity->sm_permille, ms);
	if (now->known & GPU_HAS_TENSOR)
		add_level(&device->tensor_permille, activity->tensor_permille, ms);
	if (now->known & GPU_HAS_DRAM)
		add_level(&device->dram_permille, activity->dram_permille, ms);
	if (now->known & GPU_HAS_PCIE) {
		add_level(&device->pcie_tx_kib, activity->pcie_tx / KIB, ms);
		add_level(&device->pcie_rx_kib, activity->pcie_rx / KIB, ms);
	}
	if (now->known & GPU_HAS_NVLINK) {
		add_level(&device->nvlink_tx_kib, activity->nvlink_tx / KIB, ms);
		add_level(&device->nvlink_rx_kib, activity->nvlink_rx / KIB, ms);
	}
}

static struct gpu_device device_of(const struct gpu_reading *now, const struct gpu_reading *last,
				   const struct span *span)
{
	struct gpu_device device = {.memory_total = now->memory_total};
	uint64_t ms = span_ms(span), ns = span->end_ns - span->begin_ns;

	snprintf(device.id, sizeof(device.id), "%s", now->id);
	snprintf(device.name, sizeof(device.name), "%s", now->name);
	snprintf(device.driver, sizeof(device.driver), "%s", now->driver);
	snprintf(device.reason, sizeof(device.reason), "%s", now->reason);
	if (now->known & GPU_HAS_BUSY) {
		device.busy_ns = (uint64_t)((double)ns * now->busy_permille / 1000);
		device.busy_of_ns = ns;
	}
	if (now->known & GPU_HAS_MEMORY) {
		add_level(&device.memory_kib, now->memory_used / KIB, ms);
		device.memory_peak = now->memory_used;
	}
	if (now->known & GPU_HAS_TEMPERATURE) {
		device.millicelsius = now->millicelsius;
		device.temperature_readings = 1;
	}
	if (now->known & GPU_HAS_CLOCK)
		add_level(&device.clock_mhz, now->clock_hz / HZ_PER_MHZ, ms);
	if (now->known & GPU_HAS_THROTTLE) {
		device.throttle_of_ms = ms;
		device.throttled_ms = now->throttle ? ms : 0;
		device.throttled_power_ms = now->throttle & GPU_THROTTLED_POWER ? ms : 0;
		device.throttled_heat_ms = now->throttle & GPU_THROTTLED_HEAT ? ms : 0;
		device.throttled_other_ms = now->throttle & GPU_THROTTLED_OTHER ? ms : 0;
	}
	add_activity(&device, now, ms);
	add_energy(&device, now, last, span);
	return device;
}

/* false: there is no such process. */
static bool read_comm(const struct live_gpu *gpu, uint32_t pid, char comm[PKBPF_COMM_SIZE + 1])
{
	char path[64], line[SYSFS_VALUE_SIZE];

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	if (!sysfs_line(gpu->root, path, line))
		return false;
	snprintf(comm, PKBPF_COMM_SIZE + 1, "%.*s", PKBPF_COMM_SIZE, line);
	return true;
}

static void note(struct live_gpu *gpu, int64_t err)
{
	gpu->figures.left_out += err < 0;
}

static void take_use(struct live_gpu *gpu, const struct gpu_use *use, uint32_t device,
		     const struct span *span)
{
	struct gpu_process process = {.pid = use->pid,
				      .device = device,
				      .begin_ns = span->begin_ns,
				      .end_ns = span->end_ns};

	if (!read_comm(gpu, use->pid, process.comm))
		return;
	if (use->known & GPU_HAS_BUSY) {
		process.busy_ns = use->busy_ns;
		process.busy_of_ns = span->end_ns - span->begin_ns;
	}
	if (use->known & GPU_HAS_MEMORY) {
		add_level(&process.memory_kib, use->memory / KIB, span_ms(span));
		process.memory_peak = use->memory;
	}
	note(gpu, gpu_list_add_process(&gpu->figures.list, &process));
}

static bool is_used(const struct gpu_look *look, size_t device)
{
	array_foreach(&look->uses, use)
		if (use->device == device)
			return true;
	return false;
}

static void take_look(struct live_gpu *gpu, const struct gpu_look *look, const struct span *span)
{
	int64_t numbers[GPU_DEVICES_MAX];

	for (size_t i = 0; i < look->device_count; i++) {
		const struct gpu_reading *now = &look->devices[i];
		struct gpu_device device = device_of(now, last_of(gpu, now->id), span);

		numbers[i] = -1;
		/* One that only shows a picture. */
		if (!now->known && !now->reason[0] && !is_used(look, i))
			continue;
		numbers[i] = gpu_list_add_device(&gpu->figures.list, &device);
		note(gpu, numbers[i]);
	}
	array_foreach(&look->uses, use)
		if (numbers[use->device] >= 0)
			take_use(gpu, use, (uint32_t)numbers[use->device], span);
	gpu->figures.ended += look->ended;
	gpu->figures.left_out += look->left_out;
	if (look->untimed > gpu->figures.untimed)
		gpu->figures.untimed = look->untimed;
}

static void look_now(struct live_gpu *gpu, uint64_t now_ns)
{
	const struct span span = {gpu->looked_ns, now_ns};
	struct gpu_look look = {.device_count = 0};

	gpu_meter_look(gpu->meter, now_ns, &look);
	/* The first one is where times begin. */
	if (gpu->looked_ns)
		take_look(gpu, &look, &span);
	gpu_look_clear(&gpu->last);
	gpu->last = look;
	gpu->looked_ns = now_ns;
}

uint64_t live_gpu_look_ns(bool has_regions)
{
	return has_regions ? LOOK_NS / REGIONS_HZ : LOOK_NS;
}

struct nvml_keeper *live_gpu_ask_nvml(enum live_gpu_mode mode, uint64_t look_ns,
				      const struct log *log)
{
	const struct nvml_keeper_options options = {.look_ns = look_ns};
	struct nvml_keeper *keeper = NULL;
	struct error error;

	if (mode == LIVE_GPU_OFF || (mode == LIVE_GPU_AUTO && !gpu_meter_has_nvidia("")))
		return NULL;
	if (nvml_keeper_start(&options, &keeper, &error) < 0)
		log_warning(log, "%s", error.text);
	return keeper;
}

void live_gpu_begin(struct live_gpu *gpu, const char *root, struct nvml_keeper *nvml,
		    uint64_t look_ns, uint64_t now_ns)
{
	*gpu = (struct live_gpu){
		.root = root, .look_ns = look_ns, .meter = gpu_meter_new(root, nvml)};
	live_gpu_look(gpu, now_ns);
}

void live_gpu_look(struct live_gpu *gpu, uint64_t now_ns)
{
	uint64_t took_ns;

	if (!gpu->meter || now_ns < gpu->next_ns)
		return;
	took_ns = clock_now_ns();
	look_now(gpu, now_ns);
	took_ns = clock_now_ns() - took_ns;
	gpu->next_ns = now_ns +
		       (took_ns * LOOK_RATIO > gpu->look_ns ? took_ns * LOOK_RATIO : gpu->look_ns);
}

struct live_gpu_figures live_gpu_cut(struct live_gpu *gpu, uint64_t now_ns)
{
	struct live_gpu_figures ended;

	if (!gpu->meter)
		return (struct live_gpu_figures){.ended = 0};
	look_now(gpu, now_ns);
	ended = gpu->figures;
	gpu->figures = (struct live_gpu_figures){.ended = 0};
	return ended;
}

void live_gpu_done(struct live_gpu *gpu)
{
	gpu_meter_free(gpu->meter);
	gpu_look_clear(&gpu->last);
	gpu_list_done(&gpu->figures.list);
	gpu->meter = NULL;
}
