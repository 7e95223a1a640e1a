// SPDX-License-Identifier: BSD-2-Clause
/* Writes the calls of GPU libraries. */
#include "export/json/json_sections.h"
#include "rows/gpu_calls.h"

#define ROWS_MAX   2000
#define STACKS_MAX 2000

static void write_who(struct json_writer *writer, const struct profile *profile,
		      const struct gpu_call *call)
{
	const struct process *process =
		process_table_by_id(profile_processes(profile), call->process);
	char kernel[GPU_CALL_TEXT_SIZE];

	if (process_has_pid(process))
		json_writer_u64(writer, "pid", process->pid);
	json_writer_string(writer, "comm", profile_string(profile, call->comm));
	json_writer_string(writer, "group", gpu_group_name(call->group));
	json_writer_string(writer, "function", profile_string(profile, call->function));
	if (gpu_call_kernel(kernel, profile, call)[0])
		json_writer_string(writer, "kernel", kernel);
	if (gpu_call_way(call)[0])
		json_writer_string(writer, "direction", gpu_call_way(call));
	json_writer_u64(writer, "calls", call->count);
}

/* Of kernels that a library in the program has reported. */
static void write_runs(struct json_writer *writer, const struct gpu_call *call)
{
	if (!call->runs)
		return;
	json_writer_u64(writer, "runs", call->runs);
	json_writer_u64(writer, "gpu_ns", call->run_ns);
	json_writer_u64(writer, "gpu_max_ns", call->run_max_ns);
}

static void write_streams(struct json_writer *writer, const struct gpu_calls *calls,
			  const struct gpu_call *call)
{
	struct gpu_streams streams = gpu_calls_streams(calls, call);

	if (!streams.samples)
		return;
	json_writer_object_begin(writer, "streams");
	json_writer_u64(writer, "count", streams.count);
	json_writer_u64(writer, "samples", streams.samples);
	json_writer_u64(writer, "launches", streams.launches);
	json_writer_u64(writer, "on_default", streams.default_stream);
	json_writer_object_end(writer);
}

static void write_sums(struct json_writer *writer, const struct gpu_call *call)
{
	if (call->unmeasured)
		json_writer_u64(writer, "unmeasured", call->unmeasured);
	if (call->count > call->unmeasured) {
		json_writer_u64(writer, "total_ns", call->ns);
		json_writer_u64(writer, "max_ns", call->max_ns);
	}
	if (call->group == PKBPF_GPU_COPY || call->group == PKBPF_GPU_ALLOC)
		json_writer_u64(writer, "bytes", call->bytes);
	if (call->group == PKBPF_GPU_ALLOC && !call->unmeasured) {
		json_writer_u64(writer, "freed", call->freed);
		json_writer_u64(writer, "live_bytes", gpu_call_live_bytes(call));
	}
	if (call->group == PKBPF_GPU_LAUNCH)
		json_writer_u64(writer, "blocks", call->blocks);
	write_runs(writer, call);
}

static void write_all(struct json_writer *writer, const struct resource_rows *rows,
		      const struct gpu_calls *calls)
{
	json_writer_array_begin(writer, "functions");
	for (size_t i = 0; i < calls->sum_count && i < ROWS_MAX; i++) {
		json_writer_object_begin(writer, NULL);
		write_who(writer, rows->profile, calls->sums[i]);
		write_sums(writer, calls->sums[i]);
		if (calls->sums[i]->group == PKBPF_GPU_LAUNCH)
			write_streams(writer, calls, calls->sums[i]);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
	json_writer_array_begin(writer, "errors");
	for (size_t i = 0; i < calls->error_count && i < ROWS_MAX; i++) {
		json_writer_object_begin(writer, NULL);
		write_who(writer, rows->profile, calls->errors[i]);
		json_writer_u64(writer, "code", calls->errors[i]->detail);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}

static void write_stack(struct json_writer *writer, const struct resource_rows *rows,
			const struct gpu_call *call)
{
	uint32_t functions[JSON_FRAMES_MAX];
	size_t count = 0;

	json_writer_object_begin(writer, NULL);
	write_who(writer, rows->profile, call);
	json_writer_u64(writer, "samples", call->samples);
	write_sums(writer, call);
	if (call->stack != GPU_CALL_NO_STACK)
		count = function_table_stack(rows->functions, rows->profile, call->stack, functions,
					     JSON_FRAMES_MAX);
	json_frames(writer, rows, functions, count);
	json_writer_object_end(writer);
}

int json_gpu_calls(struct json_writer *writer, const struct resource_rows *rows)
{
	struct gpu_calls calls;
	int err;

	if (!profile_gpu_calls(rows->profile)->items.count)
		return 0;
	err = gpu_calls_make(&calls, rows->profile);
	if (err)
		return err;
	json_writer_object_begin(writer, "gpu_calls");
	json_writer_u64(writer, "calls", calls.calls);
	json_writer_u64(writer, "stacks_read", calls.samples);
	json_writer_u64(writer, "rows", calls.sum_count);
	write_streams(writer, &calls, NULL);
	write_all(writer, rows, &calls);
	json_writer_array_begin(writer, "stacks");
	for (size_t i = 0; i < calls.stack_count && i < STACKS_MAX; i++)
		write_stack(writer, rows, calls.stacks[i]);
	json_writer_array_end(writer);
	json_writer_object_end(writer);
	gpu_calls_done(&calls);
	return 0;
}
