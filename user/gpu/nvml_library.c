// SPDX-License-Identifier: BSD-2-Clause
/* Symbols are looked up by name, the newest version first; one that is missing costs one figure.
 * The process ends with the library still loaded. */
#include "gpu/nvml_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "gpu/nvml_gpm.h"

#define SUCCESS	       0
#define NOT_FOUND      6
#define GPU_IS_LOST    15
#define PROCESSES_MAX  1024
#define UNKNOWN_MEMORY UINT64_MAX /* NVML_VALUE_NOT_AVAILABLE */
#define CLOCK_SM       1
#define UJ_PER_MJ      1000

typedef void *nvml_device;

struct nvml_pci {
	char short_id[16];
	unsigned int domain, bus, device, ids, subsystem;
	char id[32];
};

struct nvml_utilization {
	unsigned int gpu, memory;
};

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_process {
	unsigned int pid;
	unsigned long long memory;
	unsigned int gpu_instance, compute_instance;
};

struct nvml_sample {
	unsigned int pid;
	unsigned long long time_us;
	unsigned int sm, memory, encoder, decoder;
};

/* X(member, result and arguments, names: the newest first) */
#define FUNCTIONS(X)                                                                               \
	X(init, (void), "nvmlInit_v2", "nvmlInit")                                                 \
	X(count, (unsigned int *), "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount")                  \
	X(device_at, (unsigned int, nvml_device *), "nvmlDeviceGetHandleByIndex_v2",               \
	  "nvmlDeviceGetHandleByIndex")                                                            \
	X(name, (nvml_device, char *, unsigned int), "nvmlDeviceGetName", NULL)                    \
	X(pci, (nvml_device, struct nvml_pci *), "nvmlDeviceGetPciInfo_v3", NULL)                  \
	X(utilization, (nvml_device, struct nvml_utilization *), "nvmlDeviceGetUtilizationRates",  \
	  NULL)                                                                                    \
	X(memory, (nvml_device, struct nvml_memory *), "nvmlDeviceGetMemoryInfo", NULL)            \
	X(power, (nvml_device, unsigned int *), "nvmlDeviceGetPowerUsage", NULL)                   \
	X(energy, (nvml_device, unsigned long long *), "nvmlDeviceGetTotalEnergyConsumption",      \
	  NULL)                                                                                    \
	X(temperature, (nvml_device, int, unsigned int *), "nvmlDeviceGetTemperature", NULL)       \
	X(clock, (nvml_device, int, unsigned int *), "nvmlDeviceGetClockInfo", NULL)               \
	X(throttle, (nvml_device, unsigned long long *), "nvmlDeviceGetCurrentClocksEventReasons", \
	  "nvmlDeviceGetCurrentClocksThrottleReasons")                                             \
	X(computing, (nvml_device, unsigned int *, struct nvml_process *),                         \
	  "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2")    \
	X(drawing, (nvml_device, unsigned int *, struct nvml_process *),                           \
	  "nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2")  \
	X(samples, (nvml_device, struct nvml_sample *, unsigned int *, unsigned long long),        \
	  "nvmlDeviceGetProcessUtilization", NULL)

struct nvml_library {
#define X(member, arguments, newest, older) int(*member) arguments;
	FUNCTIONS(X)
#undef X
	const char *(*error_text)(int);
	struct nvml_gpm gpm;
	nvml_device devices[GPU_DEVICES_MAX];
	unsigned int device_count;
	/* the newest sample that was taken, by device */
	unsigned long long seen_us[GPU_DEVICES_MAX];
	/* The library may write beyond what it was asked for. */
	struct nvml_process processes[PROCESSES_MAX + 64];
	struct nvml_sample process_samples[PROCESSES_MAX + 64];
};

/* Where it is loaded: the path of dlopen, the Windows subsystem for Linux, NixOS. */
static void *load(const char *name)
{
#ifdef PKBPF_STATIC
	(void)name;
	return NULL;
#else
	static const char *const names[] = {"libnvidia-ml.so.1",
					    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
					    "/run/opengl-driver/lib/libnvidia-ml.so.1"};
	void *handle = NULL;

	if (name)
		return dlopen(name, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; i < ARRAY_SIZE(names) && !handle; i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return handle;
#endif
}

static void *find(void *handle, const char *newest, const char *older)
{
#ifdef PKBPF_STATIC
	(void)handle;
	(void)newest;
	(void)older;
	return NULL;
#else
	void *function = dlsym(handle, newest);

	return function || !older ? function : dlsym(handle, older);
#endif
}

static const char *text_of(const struct nvml_library *library, int result)
{
	const char *text = library->error_text ? library->error_text(result) : NULL;

	return text ? text : "unknown error";
}

static bool find_devices(struct nvml_library *library, char reason[GPU_REASON_SIZE])
{
	unsigned int count = 0;
	int result;

	if (!library->init || !library->count || !library->device_at) {
		snprintf(reason, GPU_REASON_SIZE, "libnvidia-ml lacks nvmlInit and others");
		return false;
	}
	result = library->init();
	if (result == SUCCESS)
		result = library->count(&count);
	if (result != SUCCESS) {
		snprintf(reason, GPU_REASON_SIZE, "NVML finds no device: %.100s (%d)",
			 text_of(library, result), result);
		return false;
	}
	for (unsigned int i = 0; i < count && library->device_count < GPU_DEVICES_MAX; i++)
		if (library->device_at(i, &library->devices[library->device_count]) == SUCCESS)
			library->device_count++;
	if (!library->device_count)
		snprintf(reason, GPU_REASON_SIZE, "NVML finds no device");
	return library->device_count;
}

struct nvml_library *nvml_library_open(const char *name, char reason[GPU_REASON_SIZE])
{
	struct nvml_library *library = calloc(1, sizeof(*library));
	void *handle = library ? load(name) : NULL;

	reason[0] = '\0';
	if (!handle) {
#ifdef PKBPF_STATIC
		snprintf(reason, GPU_REASON_SIZE,
			 "pkbpf as one static file cannot load libnvidia-ml.so.1; install the "
			 "package instead");
#else
		snprintf(reason, GPU_REASON_SIZE,
			 "%s cannot be loaded; install the NVIDIA driver's libraries",
			 name ? name : "libnvidia-ml.so.1");
#endif
		free(library);
		return NULL;
	}
	/* POSIX has functions in the form of a pointer to data. */
#define X(member, arguments, newest, older)                                                        \
	*(void **)&library->member = find(handle, newest, older);
	FUNCTIONS(X)
#undef X
	*(void **)&library->error_text = find(handle, "nvmlErrorString", NULL);
	*(void **)&library->gpm.support = find(handle, "nvmlGpmQueryDeviceSupport", NULL);
	*(void **)&library->gpm.sample_new = find(handle, "nvmlGpmSampleAlloc", NULL);
	*(void **)&library->gpm.sample = find(handle, "nvmlGpmSampleGet", NULL);
	*(void **)&library->gpm.metrics = find(handle, "nvmlGpmMetricsGet", NULL);
	if (!find_devices(library, reason)) {
		free(library);
		return NULL;
	}
	return library;
}

/* "00000000:03:00.0" of the library is "0000:03:00.0" in sysfs, in small letters. */
static void write_id(char id[GPU_ID_SIZE], const struct nvml_pci *pci)
{
	snprintf(id, GPU_ID_SIZE, "%04x:%02x:%02x.0", pci->domain & 0xffff, pci->bus & 0xff,
		 pci->device & 0x1f);
}

static unsigned int causes(unsigned long long reasons)
{
	unsigned int throttle = 0;

	if (reasons & (0x4 | 0x80)) /* software power cap, power brake */
		throttle |= GPU_THROTTLED_POWER;
	if (reasons & (0x20 | 0x40)) /* software and hardware thermal slowdown */
		throttle |= GPU_THROTTLED_HEAT;
	/* Hardware slowdown is either of both, where it says which; sync boost. */
	if (reasons & (0x8 | 0x10) && !throttle)
		throttle |= GPU_THROTTLED_OTHER;
	return throttle;
}

static void read_levels(const struct nvml_library *library, nvml_device device,
			struct nvml_message *message)
{
	struct nvml_utilization utilization = {0};
	struct nvml_memory memory = {0};

	if (library->utilization && library->utilization(device, &utilization) == SUCCESS) {
		message->of_device.busy_percent = utilization.gpu;
		message->known |= GPU_HAS_BUSY;
	}
	if (library->memory && library->memory(device, &memory) == SUCCESS) {
		message->memory_used = memory.used;
		message->memory_total = memory.total;
		message->known |= GPU_HAS_MEMORY | GPU_HAS_TOTAL;
	}
}

static void read_sensors(const struct nvml_library *library, nvml_device device,
			 struct nvml_message *message)
{
	unsigned long long energy_mj = 0, reasons = 0;

	if (library->power && library->power(device, &message->of_device.power_mw) == SUCCESS)
		message->known |= GPU_HAS_POWER;
	if (library->energy && library->energy(device, &energy_mj) == SUCCESS) {
		message->of_device.energy_uj = energy_mj * UJ_PER_MJ;
		message->known |= GPU_HAS_ENERGY;
	}
	if (library->temperature &&
	    library->temperature(device, 0, &message->of_device.celsius) == SUCCESS)
		message->known |= GPU_HAS_TEMPERATURE;
	if (library->clock &&
	    library->clock(device, CLOCK_SM, &message->of_device.clock_mhz) == SUCCESS)
		message->known |= GPU_HAS_CLOCK;
	if (library->throttle && library->throttle(device, &reasons) == SUCCESS) {
		message->of_device.throttle = causes(reasons);
		message->known |= GPU_HAS_THROTTLE;
	}
}

static void read_device(struct nvml_library *library, unsigned int number,
			struct nvml_message *message)
{
	nvml_device device = library->devices[number];
	struct nvml_pci pci = {0};
	int result;

	*message = (struct nvml_message){NVML_MAGIC, NVML_DEVICE, .device = number};
	result = library->pci ? library->pci(device, &pci) : -1;
	if (result == SUCCESS)
		write_id(message->of_device.id, &pci);
	else
		snprintf(message->of_device.id, GPU_ID_SIZE, "nvidia%u", number);
	if (result == GPU_IS_LOST)
		snprintf(message->of_device.reason, GPU_REASON_SIZE,
			 "the driver has lost it: it does not answer on the bus");
	if (library->name)
		library->name(device, message->of_device.name, GPU_NAME_SIZE - 1);
	read_levels(library, device, message);
	read_sensors(library, device, message);
	if (message->known)
		nvml_gpm_look(&library->gpm, number, device, message);
	if (!message->known && !message->of_device.reason[0])
		snprintf(message->of_device.reason, GPU_REASON_SIZE, "NVML has no figures of it");
}

struct sending {
	bool (*send)(void *context, const struct nvml_message *message);
	void *context;
	unsigned int device;
};

/* is_sampled: a process without a sample used nothing. */
static bool send_processes(struct nvml_library *library, const struct sending *sending,
			   bool is_sampled,
			   int (*list)(nvml_device, unsigned int *, struct nvml_process *))
{
	unsigned int count = PROCESSES_MAX;

	if (!list || list(library->devices[sending->device], &count, library->processes) != SUCCESS)
		return true;
	for (unsigned int i = 0; i < count && i < PROCESSES_MAX; i++) {
		struct nvml_message message = {NVML_MAGIC, NVML_USE, .device = sending->device};

		message.of_use.pid = library->processes[i].pid;
		message.memory_used = library->processes[i].memory;
		message.known = is_sampled ? GPU_HAS_BUSY : 0;
		if (library->processes[i].memory != UNKNOWN_MEMORY)
			message.known |= GPU_HAS_MEMORY;
		if (!sending->send(sending->context, &message))
			return false;
	}
	return true;
}

/* One per process that used it since the newest sample that was seen. */
static bool send_samples(struct nvml_library *library, const struct sending *sending,
			 bool *ret_is_sampled)
{
	unsigned long long *seen_us = &library->seen_us[sending->device], newest_us = *seen_us;
	unsigned int count = PROCESSES_MAX;
	int result = library->samples ? library->samples(library->devices[sending->device],
							 library->process_samples, &count, *seen_us)
				      : -1;

	*ret_is_sampled = result == SUCCESS || result == NOT_FOUND;
	if (result != SUCCESS)
		return true;
	for (unsigned int i = 0; i < count && i < PROCESSES_MAX; i++) {
		const struct nvml_sample *sample = &library->process_samples[i];
		struct nvml_message message = {NVML_MAGIC, NVML_USE, .device = sending->device,
					       .known = GPU_HAS_BUSY};

		if (sample->time_us <= *seen_us)
			continue;
		newest_us = sample->time_us > newest_us ? sample->time_us : newest_us;
		message.of_use.pid = sample->pid;
		message.of_use.busy_percent = sample->sm;
		if (!sending->send(sending->context, &message))
			return false;
	}
	*seen_us = newest_us;
	return true;
}

bool nvml_library_look(struct nvml_library *library,
		       bool (*send)(void *context, const struct nvml_message *message),
		       void *context)
{
	struct nvml_message message;

	for (unsigned int i = 0; i < library->device_count; i++) {
		const struct sending sending = {send, context, i};
		bool is_sampled;

		read_device(library, i, &message);
		if (!send(context, &message) || !send_samples(library, &sending, &is_sampled) ||
		    !send_processes(library, &sending, is_sampled, library->computing) ||
		    !send_processes(library, &sending, is_sampled, library->drawing))
			return false;
	}
	message = (struct nvml_message){NVML_MAGIC, NVML_LOOK, .device = 0};
	return send(context, &message);
}
