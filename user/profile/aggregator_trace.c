// SPDX-License-Identifier: BSD-2-Clause
/* Keeps single events with their times beside the sums. */
#include <errno.h>
#include <string.h>

#include <pkbpf/offcpu.h>
#include <pkbpf/trace.h>

#include "profile/aggregator_private.h"

static void add(struct aggregator *aggregator, struct profile *slice, const struct moment *moment)
{
	if (moment->comm == UINT32_MAX || moment->stack == UINT32_MAX ||
	    moment_list_add(profile_moments(slice), moment))
		profile_info(aggregator->running)->counters[PKBPF_COUNTER_TRACE_TOO_MANY]++;
}

void aggregator_trace_sample(struct aggregator *aggregator, struct profile *slice,
			     const struct sample_view *sample, const struct profile_row *row)
{
	const struct moment moment = {
		.begin_ns = sample->time_ns,
		.kind = sample->kind,
		.process = row->process,
		.tid = sample->tid,
		.comm = row->comm,
		.stack = row->stack,
		.place = sample->cpu,
		.weight = (uint32_t)sample->weight,
	};

	add(aggregator, slice, &moment);
}

void aggregator_trace_request(struct aggregator *aggregator, struct profile *slice,
			      const struct slow_io *request)
{
	const struct moment moment = {
		.begin_ns = request->insert_ns,
		.length_ns = request->device_ns,
		.queue_ns = request->queue_ns,
		.kind = PKBPF_PROFILE_BLOCKIO,
		.process = request->process,
		.tid = request->tid,
		.comm = request->comm,
		.stack = request->stack,
		.place = request->device,
		.weight = request->bytes,
		.state = request->state,
	};

	if (slow_io_total_ns(request) >= aggregator->options.trace_ns)
		add(aggregator, slice, &moment);
}

int aggregator_take_wait(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	const struct pkbpf_event_wait *wait = (const void *)record;
	struct profile *slice = aggregator_slice(aggregator, record->time_ns);
	const struct numbered_stack *stack;
	const struct process *process;
	char comm[PKBPF_COMM_SIZE + 1] = "";
	struct moment moment;

	if (record->size < sizeof(*wait) || wait->state >= PKBPF_WAIT_STATES ||
	    wait->cause.wake >= PKBPF_WAKES)
		return -EBADMSG;
	memcpy(comm, wait->comm, PKBPF_COMM_SIZE);
	stack = wait->stack_id ? aggregator_find_stack(aggregator, wait->stack_id, record->time_ns)
			       : NULL;
	process = aggregator_process_of_stack(aggregator, wait->pid, comm, stack);
	if (!process)
		return -ENOMEM;
	moment = (struct moment){
		.begin_ns = wait->begin_ns,
		.length_ns = wait->wait_ns,
		.queue_ns = wait->queue_ns,
		.ran_ns = wait->ran_ns,
		.kind = PKBPF_PROFILE_OFFCPU,
		.process = process->id,
		.tid = wait->tid,
		.comm = profile_intern_comm(slice, comm),
		.stack = aggregator_stack_of(aggregator, slice, stack),
		.waker = wait->cause.waker,
		.owner = wait->cause.owner,
		.state = wait->state,
		.wake = (uint8_t)wait->cause.wake,
	};
	add(aggregator, slice, &moment);
	return 0;
}
