// SPDX-License-Identifier: BSD-2-Clause
/* Writes calls of GPU libraries as comma-separated values: a record for each process, function,
 * kernel and direction. */
#include "base/cleanup.h"
#include "base/unused.h"
#include "export/csv_cells.h"
#include "export/formats.h"
#include "rows/gpu_calls.h"

/* Of the same function in the same process; copies of all directions have them together. */
static uint64_t errors_of(const struct gpu_calls *calls, const struct gpu_call *call)
{
	uint64_t count = 0;

	for (size_t i = 0; i < calls->error_count; i++)
		if (calls->errors[i]->process == call->process &&
		    calls->errors[i]->function == call->function)
			count += calls->errors[i]->count;
	return count;
}

static void write_call(struct csv_cells *cells, const struct profile *profile,
		       const struct gpu_calls *calls, const struct gpu_call *call)
{
	const struct process *process =
		process_table_by_id(profile_processes(profile), call->process);
	struct gpu_streams streams = {.count = 0};
	char kernel[GPU_CALL_TEXT_SIZE];

	if (call->group == PKBPF_GPU_LAUNCH)
		streams = gpu_calls_streams(calls, call);
	if (process_has_pid(process))
		csv_u64(cells, process->pid);
	else
		csv_text(cells, "");
	csv_text(cells, profile_string(profile, call->comm));
	csv_text(cells, gpu_group_name(call->group));
	csv_text(cells, profile_string(profile, call->function));
	csv_text(cells, gpu_call_kernel(kernel, profile, call));
	csv_text(cells, gpu_call_way(call));
	csv_u64(cells, call->count);
	csv_u64(cells, call->unmeasured);
	csv_u64(cells, call->ns);
	csv_u64(cells, call->max_ns);
	csv_u64(cells, call->bytes);
	csv_u64(cells, call->freed);
	csv_u64(cells, call->freed_bytes);
	csv_u64(cells, call->blocks);
	csv_u64(cells, errors_of(calls, call));
	csv_u64(cells, streams.count);
	csv_u64(cells, streams.launches);
	csv_u64(cells, streams.default_stream);
	csv_u64(cells, call->runs);
	csv_u64(cells, call->run_ns);
	csv_u64(cells, call->run_max_ns);
	csv_end(cells);
}

static int write_gpu_calls(struct results *results, _unused_ const struct format_options *options,
			   FILE *out)
{
	struct csv_cells cells = {.out = out};
	struct gpu_calls calls;
	int err = gpu_calls_make(&calls, results->profile);

	if (err)
		return err;
	fputs("pid,comm,group,function,kernel,direction,calls,unmeasured,total_ns,max_ns,bytes,"
	      "freed,freed_bytes,blocks,function_errors,streams,stream_launches,default_stream_"
	      "launches,"
	      "runs,gpu_ns,gpu_max_ns" CSV_LINE_END,
	      out);
	for (size_t i = 0; i < calls.sum_count; i++)
		write_call(&cells, results->profile, &calls, calls.sums[i]);
	gpu_calls_done(&calls);
	return 0;
}

const struct format_ops format_csv_gpu_calls = {
	.file = {"csv-gpu-calls", ".gpu-calls.csv", "calls of GPU libraries"},
	.shows_gpu_calls = true,
	.write = write_gpu_calls,
};
