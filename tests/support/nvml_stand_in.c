// SPDX-License-Identifier: BSD-2-Clause
/*
 * libnvidia-ml.so.1 without a GPU: two devices whose figures are known. NVML_STAND_IN says what it
 * does wrong: hangs (in its first call), hangs_later (in the third look), crashes, exits, lies,
 * lost (the second device), none (no device). NVML_STAND_IN_PID is the process that uses the first
 * one. Compiled with NVML_IS_OLD, it lacks what came later.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef void *device;

struct pci {
	char short_id[16];
	unsigned int domain, bus, device, ids, subsystem;
	char id[32];
};

struct process {
	unsigned int pid;
	unsigned long long memory;
	unsigned int gpu_instance, compute_instance;
};

struct sample {
	unsigned int pid;
	unsigned long long time_us;
	unsigned int sm, memory, encoder, decoder;
};

static int looks;

static int does(const char *what)
{
	const char *wanted = getenv("NVML_STAND_IN");

	return wanted && strcmp(wanted, what) == 0;
}

static unsigned int user(void)
{
	const char *pid = getenv("NVML_STAND_IN_PID");

	return pid ? (unsigned int)atoi(pid) : 0;
}

static int is_first(device which)
{
	return which == (device)1;
}

static int is_lost(device which)
{
	return does("lost") && !is_first(which);
}

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlInit_v2(void)
{
	while (does("hangs"))
		sleep(1000);
	return does("none") ? 9 : 0;
}

EXPORT const char *nvmlErrorString(int result);
EXPORT const char *nvmlErrorString(int result)
{
	return result == 9 ? "Driver Not Loaded" : "Unknown Error";
}

EXPORT int nvmlDeviceGetCount_v2(unsigned int *count);
EXPORT int nvmlDeviceGetCount_v2(unsigned int *count)
{
	*count = 2;
	return 0;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, device *which);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, device *which)
{
	*which = (device)(unsigned long)(index + 1);
	return 0;
}

EXPORT int nvmlDeviceGetName(device which, char *name, unsigned int size);
EXPORT int nvmlDeviceGetName(device which, char *name, unsigned int size)
{
	(void)which;
	if (does("lies"))
		memset(name, 'A', size); /* no end */
	else
		strcpy(name, "Stand-in T4");
	return 0;
}

EXPORT int nvmlDeviceGetPciInfo_v3(device which, struct pci *pci);
EXPORT int nvmlDeviceGetPciInfo_v3(device which, struct pci *pci)
{
	if (is_first(which))
		looks++;
	while (does("hangs_later") && looks == 3)
		sleep(1000);
	if (does("crashes") && looks == 3)
		*(volatile int *)0 = 1;
	if (does("exits") && looks == 3)
		_exit(0);
	if (is_lost(which))
		return 15;
	pci->domain = 0;
	pci->bus = is_first(which) ? 0x3b : 0xaf;
	return 0;
}

EXPORT int nvmlDeviceGetUtilizationRates(device which, unsigned int rates[2]);
EXPORT int nvmlDeviceGetUtilizationRates(device which, unsigned int rates[2])
{
	if (is_lost(which))
		return 15;
	rates[0] = does("lies") ? 5000 : is_first(which) ? 40 : 0;
	return 0;
}

EXPORT int nvmlDeviceGetMemoryInfo(device which, unsigned long long memory[3]);
EXPORT int nvmlDeviceGetMemoryInfo(device which, unsigned long long memory[3])
{
	if (is_lost(which))
		return 15;
	memory[0] = 16ULL << 30;
	memory[2] = does("lies") ? 17ULL << 30 : is_first(which) ? 4ULL << 30 : 0;
	return 0;
}

EXPORT int nvmlDeviceGetPowerUsage(device which, unsigned int *milliwatts);
EXPORT int nvmlDeviceGetPowerUsage(device which, unsigned int *milliwatts)
{
	if (is_lost(which))
		return 15;
	*milliwatts = does("lies") ? 4000000000U : is_first(which) ? 61000 : 10000;
	return 0;
}

EXPORT int nvmlDeviceGetTemperature(device which, int sensor, unsigned int *celsius);
EXPORT int nvmlDeviceGetTemperature(device which, int sensor, unsigned int *celsius)
{
	if (is_lost(which) || sensor != 0)
		return 15;
	*celsius = does("lies") ? 4000000000U : 65;
	return 0;
}

#ifndef NVML_IS_OLD
/* Counters of the first device. */
struct metric {
	unsigned int id;
	int result;
	double value;
	char *names[3];
};

struct metrics {
	unsigned int version, count;
	int *samples[2];
	struct metric metrics[];
};

EXPORT int nvmlGpmQueryDeviceSupport(device which, unsigned int *version_and_support);
EXPORT int nvmlGpmQueryDeviceSupport(device which, unsigned int *version_and_support)
{
	if (version_and_support[0] != 1)
		return 25; /* of another version */
	version_and_support[1] = is_first(which);
	return 0;
}

EXPORT int nvmlGpmSampleAlloc(int **sample);
EXPORT int nvmlGpmSampleAlloc(int **sample)
{
	*sample = calloc(1, sizeof(**sample));
	return *sample ? 0 : 20;
}

EXPORT int nvmlGpmSampleGet(device which, int *sample);
EXPORT int nvmlGpmSampleGet(device which, int *sample)
{
	static int count;

	*sample = ++count;
	return is_first(which) ? 0 : 3;
}

/* The first sample has to be the older one. */
EXPORT int nvmlGpmMetricsGet(struct metrics *metrics);
EXPORT int nvmlGpmMetricsGet(struct metrics *metrics)
{
	static const struct {
		unsigned int id;
		double value;
	} values[] = {{2, 72.5}, {5, 31}, {10, 44.4}, {20, 100}, {21, 200}};

	if (metrics->version != 1 || *metrics->samples[0] >= *metrics->samples[1])
		return 2;
	for (unsigned int i = 0; i < metrics->count; i++) {
		metrics->metrics[i].result = 3; /* not supported */
		for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++)
			if (values[j].id == metrics->metrics[i].id) {
				metrics->metrics[i].result = 0;
				metrics->metrics[i].value = does("lies") ? 5e8 : values[j].value;
			}
	}
	return 0;
}

EXPORT int nvmlDeviceGetClockInfo(device which, int clock, unsigned int *mhz);
EXPORT int nvmlDeviceGetClockInfo(device which, int clock, unsigned int *mhz)
{
	if (is_lost(which) || clock != 1)
		return 15;
	*mhz = 1590;
	return 0;
}

EXPORT int nvmlDeviceGetCurrentClocksEventReasons(device which, unsigned long long *reasons);
EXPORT int nvmlDeviceGetCurrentClocksEventReasons(device which, unsigned long long *reasons)
{
	if (is_lost(which))
		return 15;
	*reasons = is_first(which) ? 0x4 : 0x1;
	return 0;
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(device which, unsigned int *count,
						   struct process *processes);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(device which, unsigned int *count,
						   struct process *processes)
{
	if (does("lies")) {
		*count = 0xffffffff;
		return 0;
	}
	if (*count < 1)
		return 7;
	*count = is_first(which) && user();
	if (*count)
		processes[0] = (struct process){user(), 3ULL << 30, 0, 0};
	return 0;
}

EXPORT int nvmlDeviceGetProcessUtilization(device which, struct sample *samples,
					   unsigned int *count, unsigned long long since_us);
EXPORT int nvmlDeviceGetProcessUtilization(device which, struct sample *samples,
					   unsigned int *count, unsigned long long since_us)
{
	if (!is_first(which) || !user() || *count < 1)
		return 6;
	*count = 1;
	samples[0] = (struct sample){user(), since_us + 1000000, 35, 0, 0, 0};
	return 0;
}
#endif
