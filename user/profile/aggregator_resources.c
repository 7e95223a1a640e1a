// SPDX-License-Identifier: BSD-2-Clause
/* Adds what the kernel counted of processes and cgroups. */
#include <string.h>

#include "event/resource_event.h"
#include "profile/aggregator_private.h"

static int feed_resources(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	const struct resource_slices slices = {
		.closing = aggregator->closing ? profile_resources(aggregator->closing) : NULL,
		.running = profile_resources(aggregator->running),
		.cut_ns = profile_info(aggregator->running)->start_ns,
	};

	return resource_usage_feed_slices(&slices, record);
}

/* This usage belongs to the program before exec, whose name the kernel no longer knows. */
static int take_leaver(struct aggregator *aggregator, const struct pkbpf_event_resource *record)
{
	const struct process *process = process_table_find(aggregator->processes, record->pid);
	struct pkbpf_event_resource renamed = *record;

	if (process && process->comm_before[0])
		memcpy(renamed.comm, process->comm_before, sizeof(renamed.comm));
	return feed_resources(aggregator, &renamed.header);
}

int aggregator_take_resource(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	const struct pkbpf_event_resource *resource = (const void *)record;

	if (record->kind == PKBPF_EVENT_RESOURCE && record->size == sizeof(*resource) &&
	    record->flags == PKBPF_RESOURCE_LEFT)
		return take_leaver(aggregator, resource);
	return feed_resources(aggregator, record);
}
