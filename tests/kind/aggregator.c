// SPDX-License-Identifier: BSD-2-Clause
/* Adds held leases to their list. */
#include <errno.h>

#include "lease_list.h"
#include "profile/aggregator_private.h"

int aggregator_take_lease(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	const struct lease_event *event = (const void *)record;
	struct profile *slice = aggregator_slice(aggregator, record->time_ns);
	const struct numbered_stack *stack;
	const struct process *process;
	struct lease lease;

	if (record->size != sizeof(*event))
		return -EBADMSG;
	stack = aggregator_find_stack(aggregator, event->stack_id, record->time_ns);
	process = aggregator_process_of_stack(aggregator, event->pid, "", stack);
	if (!process)
		return -ENOMEM;
	lease = (struct lease){
		.process = process->id,
		.comm = profile_intern_comm(slice, process->comm),
		.stack = aggregator_stack_of(aggregator, slice, stack),
		.end_ns = record->time_ns,
		.held_ns = event->held_ns,
	};
	return lease_list_add(profile_leases(slice), &lease);
}
