// SPDX-License-Identifier: BSD-2-Clause
/* Adds up time and memory of GPUs; rows_work_add_gpus() brings them. */
#include "rows/part/row_gpu.h"

#include "base/array.h"
#include "base/clock.h"
#include "rows/figure.h"
#include "rows/human.h"
#include "rows/resource_rows.h"

#define KIB 1024

static bool mean_utilization(const struct resource_rows *rows, double *ret_value)
{
	return gpu_list_busy_percent(profile_gpus(rows->profile), ret_value);
}

static bool temperature(const struct resource_rows *rows, double *ret_value)
{
	return gpu_list_celsius(profile_gpus(rows->profile), ret_value);
}

static bool throttled(const struct resource_rows *rows, double *ret_value)
{
	return gpu_list_throttled_percent(profile_gpus(rows->profile), ret_value);
}

static bool multiprocessors(const struct resource_rows *rows, double *ret_value)
{
	return gpu_list_sm_percent(profile_gpus(rows->profile), ret_value);
}

static bool tensor_cores(const struct resource_rows *rows, double *ret_value)
{
	return gpu_list_tensor_percent(profile_gpus(rows->profile), ret_value);
}

static bool bandwidth(const struct resource_rows *rows, double *ret_value)
{
	return gpu_list_dram_percent(profile_gpus(rows->profile), ret_value);
}

static bool memory_share(const struct resource_rows *rows, double *ret_value)
{
	return gpu_list_memory_percent(profile_gpus(rows->profile), ret_value);
}

/* Sums of calls, once for all of a group; false: they were not watched. */
static bool sums_of(const struct resource_rows *rows, uint32_t group, struct gpu_call *ret_sums)
{
	const struct gpu_call_list *list = profile_gpu_calls(rows->profile);

	*ret_sums = (struct gpu_call){.group = group};
	array_foreach(&list->items, call) {
		if (call->what != PKBPF_GPU_SUM || call->group != group)
			continue;
		ret_sums->count += call->count;
		ret_sums->bytes += call->bytes;
		ret_sums->ns += call->ns;
		ret_sums->runs += call->runs;
		ret_sums->run_ns += call->run_ns;
	}
	/* Recordings of before do not say that calls were watched. */
	return list->items.count > 0 || profile_info_read(rows->profile)->gpu_calls_ns;
}

static bool launches(const struct resource_rows *rows, double *ret_value)
{
	struct gpu_call sums;
	bool is_known = sums_of(rows, PKBPF_GPU_LAUNCH, &sums);

	*ret_value = (double)sums.count;
	return is_known;
}

static bool copies(const struct resource_rows *rows, double *ret_value)
{
	struct gpu_call sums;
	bool is_known = sums_of(rows, PKBPF_GPU_COPY, &sums);

	*ret_value = (double)sums.count;
	return is_known;
}

static bool copied(const struct resource_rows *rows, double *ret_value)
{
	struct gpu_call sums;
	bool is_known = sums_of(rows, PKBPF_GPU_COPY, &sums);

	*ret_value = (double)sums.bytes;
	return is_known;
}

static bool synchronized(const struct resource_rows *rows, double *ret_value)
{
	struct gpu_call sums;
	bool is_known = sums_of(rows, PKBPF_GPU_WAIT, &sums);

	*ret_value = (double)sums.ns;
	return is_known;
}

static bool kernel_time(const struct resource_rows *rows, double *ret_value)
{
	struct gpu_call sums;
	bool is_known = sums_of(rows, PKBPF_GPU_LAUNCH, &sums) && sums.runs;

	*ret_value = (double)sums.run_ns;
	return is_known;
}

#define OF_DEVICES(name_, unit_, of_run_, summary_)                                                \
	{                                                                                          \
		.group = "gpu", .name = name_, .unit = FIGURE_##unit_, .scope = FIGURE_OF_RUN,     \
		.of_run = of_run_, .summary = summary_, .is_level = true                           \
	}
#define OF_CALLS(name_, unit_, of_run_, summary_)                                                  \
	{                                                                                          \
		.group = "gpu", .name = name_, .unit = FIGURE_##unit_, .scope = FIGURE_OF_RUN,     \
		.of_run = of_run_, .summary = summary_                                             \
	}

static const struct figure figures[] = {
	FIGURE_ROW("gpu", "time", NS, gpu.time_ns, ROW_HAS_GPU_TIME,
		   "time that GPUs worked for it, each by its busiest kind of engine",
		   .is_activity = true),
	FIGURE_ROW("gpu", "share", PERCENT, gpu.share, ROW_HAS_GPU_TIME | ROW_HAS_INTERVAL,
		   "share of one GPU", .is_rate = true),
	FIGURE_ROW("gpu", "memory", BYTES, gpu.memory_bytes, ROW_HAS_GPU_MEMORY,
		   "mean memory in use on GPUs while it had any", .is_level = true),
	FIGURE_ROW("gpu", "memory_peak", BYTES, gpu.peak_bytes, ROW_HAS_GPU_MEMORY,
		   "the most memory of one process on a GPU", .is_largest = true, .is_level = true),
	FIGURE_ROW("gpu", "spin", NS, gpu.spin_ns, ROW_HAS_GPU_CALLS | ROW_HAS_SAMPLES,
		   "CPU time in calls that only wait for a GPU, by samples"),
	FIGURE_ROW("gpu", "wait", NS, gpu.wait_ns, ROW_HAS_GPU_CALLS | ROW_HAS_WAITS,
		   "time asleep in calls that wait for a GPU"),
	FIGURE_ROW("gpu", "state", NS, gpu.state_ns,
		   ROW_HAS_GPU_CALLS | ROW_HAS_WAITS | ROW_HAS_SAMPLES,
		   "time of threads in calls that wait for a GPU, spinning and asleep: a part of "
		   "the wall time beside on-CPU, run queue, sleep, disk wait, D state and stopped"),
	{
		.group = "gpu",
		.name = "util",
		.unit = FIGURE_PERCENT,
		.scope = FIGURE_OF_RUN,
		.of_run = mean_utilization,
		.summary = "mean utilization of all GPUs",
	},
	{
		.group = "gpu",
		.name = "memory_share",
		.unit = FIGURE_PERCENT,
		.scope = FIGURE_OF_RUN,
		.of_run = memory_share,
		.summary = "largest share of a GPU's memory that was in use",
	},
	OF_DEVICES("temperature", COUNT, temperature, "highest temperature of a GPU in Celsius"),
	OF_DEVICES(
		"throttled", PERCENT, throttled,
		"time in which a GPU was slowed down by heat, power or another cause; of several "
		"GPUs the largest share"),
	OF_DEVICES("sm", PERCENT, multiprocessors,
		   "mean time in which multiprocessors of GPUs had work, where they count it"),
	OF_DEVICES("tensor", PERCENT, tensor_cores, "the same of tensor cores"),
	OF_DEVICES("dram", PERCENT, bandwidth,
		   "mean used bandwidth of the memory of GPUs, where they count it"),
	OF_CALLS("launches", COUNT, launches, "launches of kernels, with --gpu-calls"),
	OF_CALLS("copies", COUNT, copies, "copies to, from and on GPUs, with --gpu-calls"),
	OF_CALLS("copied", BYTES, copied, "bytes of those copies"),
	OF_CALLS("kernel_time", NS, kernel_time,
		 "time that GPUs worked on kernels, as a library in the program reports it"),
	OF_CALLS("synchronized", NS, synchronized,
		 "time of calls that only wait for a GPU, with --gpu-calls"),
};

void row_gpu_add(struct resource_row *row, const struct gpu_process *process)
{
	struct row_gpu *gpu = &row->gpu;

	if (process->busy_of_ns) {
		row->known |= ROW_HAS_GPU_TIME;
		gpu->time_ns += process->busy_ns;
	}
	if (!process->memory_kib.ms)
		return;
	if (!(row->known & ROW_HAS_GPU_MEMORY) || process->begin_ns < gpu->begin_ns)
		gpu->begin_ns = process->begin_ns;
	if (process->end_ns > gpu->end_ns)
		gpu->end_ns = process->end_ns;
	row->known |= ROW_HAS_GPU_MEMORY;
	gpu->kib_ms += process->memory_kib.sum;
	if (process->memory_peak > gpu->peak_bytes)
		gpu->peak_bytes = process->memory_peak;
}

void row_gpu_add_call(struct resource_row *row, const struct profile_row *stack)
{
	row->known |= ROW_HAS_GPU_CALLS;
	if (stack->kind == PKBPF_PROFILE_CPU)
		row->gpu.spin_periods += stack->weight;
	else if (stack->kind == PKBPF_PROFILE_OFFCPU && stack->state == PKBPF_WAIT_SLEEP)
		row->gpu.wait_ns += stack->weight;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Moves what was in calls that wait for a GPU out of the times on a CPU and asleep. Samples may
 * come to more than there was: the parts add up to the wall time all the same. Without samples
 * nothing is moved: waits asleep are a part of the state only. */
static void move_to_own_state(struct resource_row *row)
{
	struct row_gpu *gpu = &row->gpu;

	gpu->spin_ns = least(gpu->spin_ns, row->cpu.total_ns);
	if (!(row->known & ROW_HAS_WAITS))
		return;
	gpu->wait_ns = least(gpu->wait_ns, row->waits.sleep_ns);
	if (!(row->known & ROW_HAS_SAMPLES))
		return;
	gpu->spin_ns = least(gpu->spin_ns, row->waits.on_cpu_ns);
	row->waits.on_cpu_ns -= gpu->spin_ns;
	row->waits.sleep_ns -= gpu->wait_ns;
	gpu->state_ns = gpu->spin_ns + gpu->wait_ns;
}

static void finish(const struct resource_rows *rows, struct resource_row *row)
{
	const unsigned int by_driver = ROW_HAS_GPU_TIME | ROW_HAS_GPU_MEMORY;
	struct row_gpu *gpu = &row->gpu;
	uint64_t ms = gpu->end_ns / NS_PER_MS - gpu->begin_ns / NS_PER_MS;

	uint32_t frequency_hz = profile_info_read(rows->profile)->frequency_hz;

	if (frequency_hz)
		gpu->spin_ns = human_whole((double)gpu->spin_periods * 1e9 / frequency_hz);
	move_to_own_state(row);
	row->known |= rows->total.known & ROW_HAS_GPU_CALLS;
	/* Where others use a device, this row's share is known to be none. */
	if (rows_are_of_processes(rows->by))
		row->known |= rows->total.known & by_driver;
	if (ms)
		gpu->memory_bytes = (uint64_t)((double)gpu->kib_ms / (double)ms * (double)KIB);
	gpu->share = 100 * row_ratio((double)gpu->time_ns, (double)rows->interval_ns);
}

const struct row_part row_gpu_part = {
	.figures = figures,
	.figure_count = ARRAY_SIZE(figures),
	.finish = finish,
};
