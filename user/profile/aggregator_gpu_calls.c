// SPDX-License-Identifier: BSD-2-Clause
/* Adds calls of GPU libraries. */
#include <errno.h>
#include <string.h>

#include "event/gpu_call_event.h"
#include "profile/aggregator_private.h"

/* none: GPU_CALL_NO_STACK for number 0. */
static uint32_t stack_in(struct aggregator *aggregator, struct profile *slice, uint64_t stack_id,
			 uint64_t time_ns)
{
	const struct numbered_stack *stack =
		stack_id ? aggregator_find_stack(aggregator, stack_id, time_ns) : NULL;

	return stack ? aggregator_stack_in(aggregator, slice, stack->stack) : GPU_CALL_NO_STACK;
}

int aggregator_take_gpu_call(struct aggregator *aggregator, const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_gpu_call *record = (const void *)header;
	struct profile *slice = aggregator_slice(aggregator, header->time_ns);
	char comm[PKBPF_COMM_SIZE + 1] = "";
	const struct numbered_stack *stack;
	const struct process *process;
	struct gpu_call call;
	int err = gpu_call_event_check(header);

	if (err)
		return err;
	memcpy(comm, record->comm, sizeof(record->comm));
	stack = aggregator_find_stack(aggregator,
				      record->stack_id ? record->stack_id : record->kernel_id,
				      header->time_ns);
	process = aggregator_process_of_stack(aggregator, record->pid, comm, stack);
	call = (struct gpu_call){
		.process = process ? process->id : 0,
		.group = record->group,
		.what = record->what,
		.function = profile_intern_string(slice, record->function),
		.name = profile_intern_comm(slice, record->kernel),
		.kernel = stack_in(aggregator, slice, record->kernel_id, header->time_ns),
		.stack = stack_in(aggregator, slice, record->stack_id, header->time_ns),
		.comm = profile_intern_comm(slice, comm),
		.detail = record->detail,
		.count = record->count,
		.unmeasured = record->unmeasured,
		.ns = record->ns,
		.max_ns = record->max_ns,
		.bytes = record->bytes,
		.blocks = record->blocks,
		.freed = record->freed,
		.freed_bytes = record->freed_bytes,
		.samples = record->samples,
		.stream = record->stream,
		.runs = record->runs,
		.run_ns = record->run_ns,
		.run_max_ns = record->run_max_ns,
	};
	if (!process || call.function == UINT32_MAX || call.name == UINT32_MAX ||
	    call.comm == UINT32_MAX)
		return -ENOMEM;
	return gpu_call_list_add(profile_gpu_calls(slice), &call);
}
