// SPDX-License-Identifier: BSD-2-Clause
/* Adds slow block requests one by one. */
#include "profile/aggregator_private.h"

static bool add_slow_io(struct aggregator *aggregator, const struct slow_io_view *view)
{
	struct profile *profile = aggregator_slice(aggregator, view->time_ns);
	const struct numbered_stack *stack =
		aggregator_find_stack(aggregator, view->stack_id, view->time_ns);
	const struct process *process =
		aggregator_process_of_stack(aggregator, view->pid, view->comm, stack);
	uint64_t issue_ns = view->issue_ns ? view->issue_ns : view->time_ns;
	struct slow_io slow_io = {
		.process = process ? process->id : 0,
		/* The originator of write-back is unknown: there the kernel side repeats the
		 * number in tid. */
		.tid = view->tid == view->pid && view->tid & PKBPF_PID_WRITEBACK ? 0 : view->tid,
		.comm = profile_intern_comm(profile, view->comm),
		.stack = aggregator_stack_of(aggregator, profile, stack),
		.device = view->device,
		.bytes = view->bytes,
		.state = view->state,
		.open = view->open,
		.failed = view->failed,
		.fua = view->fua,
		.metadata = view->metadata,
		.cgroup_id = view->cgroup_id,
		.insert_ns = view->insert_ns,
		.queue_ns = issue_ns - view->insert_ns,
		.device_ns = view->time_ns - issue_ns,
		.sector = view->sector,
	};

	if (!process || slow_io.comm == UINT32_MAX || slow_io.stack == UINT32_MAX)
		return false;
	if (aggregator->options.trace_ns && !slow_io.open)
		aggregator_trace_request(aggregator, profile, &slow_io);
	return slow_io_total_ns(&slow_io) < aggregator->options.slow_io_ns ||
	       slow_io_list_add(profile_slow_io(profile), &slow_io) == 0;
}

void aggregator_on_slow_io(void *context, const struct slow_io_view *slow_io)
{
	struct aggregator *aggregator = context;

	if (!add_slow_io(aggregator, slow_io))
		profile_info(aggregator->running)->counters[PKBPF_COUNTER_SLOW_IO_LOST]++;
}
