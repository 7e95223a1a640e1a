// SPDX-License-Identifier: BSD-2-Clause
#include "gpu/nvml_gpm.h"

#include <stddef.h>
#include <string.h>

#define SUCCESS	     0
#define VERSION	     1
#define BYTES_OF_MIB 1048576.0

_Static_assert(sizeof(struct nvml_gpm_metric) == 40, "nvmlGpmMetric_t");
_Static_assert(offsetof(struct nvml_gpm_request, metrics) == 24, "nvmlGpmMetricsGet_t");

/* nvmlGpmMetricId_t: percent, then MiB a second. */
enum { SM, TENSOR, DRAM, PCIE_TX, PCIE_RX, NVLINK_RX, NVLINK_TX };
static const unsigned int ids[NVML_GPM_METRICS] = {
	[SM] = 2,	[TENSOR] = 5,	  [DRAM] = 10,	    [PCIE_TX] = 20,
	[PCIE_RX] = 21, [NVLINK_RX] = 60, [NVLINK_TX] = 61,
};

static bool has_counters(struct nvml_gpm *gpm, struct nvml_gpm_device *of, void *device)
{
	unsigned int version_and_support[2] = {VERSION, 0};

	if (of->was_asked)
		return of->samples[1];
	of->was_asked = true;
	if (!gpm->support || !gpm->sample_new || !gpm->sample || !gpm->metrics ||
	    gpm->support(device, version_and_support) != SUCCESS || !version_and_support[1] ||
	    gpm->sample_new(&of->samples[0]) != SUCCESS ||
	    gpm->sample_new(&of->samples[1]) != SUCCESS)
		of->samples[1] = NULL;
	return of->samples[1];
}

static bool is_known(const struct nvml_gpm *gpm, unsigned int metric)
{
	const struct nvml_gpm_metric *got = &gpm->request.metrics[metric];

	/* Not a number is neither. */
	return got->result == SUCCESS && got->value >= 0 && got->value < 1e9;
}

static uint32_t permille(const struct nvml_gpm *gpm, unsigned int metric)
{
	double value = gpm->request.metrics[metric].value;

	return value <= 1000 ? (uint32_t)(value * 10 + 0.5) : UINT32_MAX;
}

static uint64_t rate(const struct nvml_gpm *gpm, unsigned int metric)
{
	return (uint64_t)(gpm->request.metrics[metric].value * BYTES_OF_MIB);
}

static void take_percents(const struct nvml_gpm *gpm, struct nvml_message *message)
{
	struct gpu_activity *activity = &message->of_device.activity;

	if (is_known(gpm, SM)) {
		activity->sm_permille = permille(gpm, SM);
		message->known |= GPU_HAS_SM;
	}
	if (is_known(gpm, TENSOR)) {
		activity->tensor_permille = permille(gpm, TENSOR);
		message->known |= GPU_HAS_TENSOR;
	}
	if (is_known(gpm, DRAM)) {
		activity->dram_permille = permille(gpm, DRAM);
		message->known |= GPU_HAS_DRAM;
	}
}

static void take_rates(const struct nvml_gpm *gpm, struct nvml_message *message)
{
	struct gpu_activity *activity = &message->of_device.activity;

	if (is_known(gpm, PCIE_TX) && is_known(gpm, PCIE_RX)) {
		activity->pcie_tx = rate(gpm, PCIE_TX);
		activity->pcie_rx = rate(gpm, PCIE_RX);
		message->known |= GPU_HAS_PCIE;
	}
	if (is_known(gpm, NVLINK_TX) && is_known(gpm, NVLINK_RX)) {
		activity->nvlink_tx = rate(gpm, NVLINK_TX);
		activity->nvlink_rx = rate(gpm, NVLINK_RX);
		message->known |= GPU_HAS_NVLINK;
	}
}

void nvml_gpm_look(struct nvml_gpm *gpm, unsigned int number, void *device,
		   struct nvml_message *message)
{
	struct nvml_gpm_device *of = &gpm->devices[number];
	unsigned int older = of->newest, newer = !of->newest;

	if (!has_counters(gpm, of, device))
		return;
	if (gpm->sample(device, of->samples[newer]) != SUCCESS) {
		of->has_sample = false;
		return;
	}
	of->newest = newer;
	if (!of->has_sample) {
		of->has_sample = true;
		return;
	}
	memset(&gpm->request, 0, sizeof(gpm->request));
	gpm->request.version = VERSION;
	gpm->request.count = NVML_GPM_METRICS;
	gpm->request.samples[0] = of->samples[older];
	gpm->request.samples[1] = of->samples[newer];
	for (size_t i = 0; i < NVML_GPM_METRICS; i++)
		gpm->request.metrics[i].id = ids[i];
	if (gpm->metrics(&gpm->request) != SUCCESS)
		return;
	take_percents(gpm, message);
	take_rates(gpm, message);
}
