// SPDX-License-Identifier: BSD-2-Clause
/* Adds slow requests of thread contexts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/request_event.h"
#include "profile/aggregator_private.h"

/* false: no memory. */
static bool take_reason(struct aggregator *aggregator, struct profile *profile,
			const struct pkbpf_event_request *record, size_t number,
			struct request_reason *reason)
{
	const struct pkbpf_context_reason *of = &record->reasons[number];
	const struct numbered_stack *stack =
		of->stack_id
			? aggregator_find_stack(aggregator, of->stack_id, record->header.time_ns)
			: NULL;

	*reason = (struct request_reason){.stack = REQUEST_NO_STACK};
	if (!stack)
		return true;
	reason->wait_ns = of->wait_ns;
	reason->stack = aggregator_stack_of(aggregator, profile, stack);
	return reason->stack != UINT32_MAX;
}

static int compare_reasons(const void *left, const void *right)
{
	const struct request_reason *a = left, *b = right;

	return a->wait_ns != b->wait_ns ? (a->wait_ns > b->wait_ns ? -1 : 1) : 0;
}

int aggregator_take_request(struct aggregator *aggregator, const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_request *record = (const void *)header;
	struct profile *profile;
	const struct process *process;
	struct slow_request request;
	int err = request_event_check(header);

	if (err)
		return err;
	profile = aggregator_slice(aggregator, header->time_ns);
	process = process_table_get_late(aggregator->processes, record->pid, record->comm);
	if (!process)
		return -ENOMEM;
	request = (struct slow_request){
		.process = process->id,
		.tid = record->tid,
		.comm = profile_intern_comm(profile, record->comm),
		.cgroup_id = record->cgroup_id,
		.flags = record->header.flags,
		.start_ns = record->start_ns,
		.wall_ns = record->wall_ns,
		.edge_ns = record->edge_ns,
	};
	memcpy(request.part_ns, record->part_ns, sizeof(request.part_ns));
	memcpy(request.trace, record->trace, sizeof(request.trace));
	memcpy(request.span, record->span, sizeof(request.span));
	if (request.comm == UINT32_MAX)
		return -ENOMEM;
	for (size_t i = 0; i < PKBPF_CONTEXT_LABELS; i++) {
		request.labels[i] = profile_intern_comm(profile, record->labels[i]);
		if (request.labels[i] == UINT32_MAX)
			return -ENOMEM;
	}
	for (size_t i = 0; i < PKBPF_CONTEXT_REASONS; i++)
		if (!take_reason(aggregator, profile, record, i, &request.reasons[i]))
			return -ENOMEM;
	qsort(request.reasons, PKBPF_CONTEXT_REASONS, sizeof(request.reasons[0]), compare_reasons);
	return request_list_add(profile_contexts(profile), &request);
}
