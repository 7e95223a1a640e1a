// SPDX-License-Identifier: BSD-2-Clause
/* Checks and builds records of sampled allocations. Their values come from the profiled program. */
#include "event/alloc_event.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* The size divided by the probability that a Poisson process of this mean distance hits it. */
static uint64_t weight_of(uint64_t size, uint64_t interval)
{
	double chance = -expm1(-(double)size / (double)interval);

	return (uint64_t)((double)size / chance + 0.5);
}

int alloc_event_decode(const struct pkbpf_event_header *header, struct alloc_view *ret_view)
{
	const struct pkbpf_event_alloc *record = (const void *)header;
	bool is_call = header->flags & PKBPF_ALLOC_CALL;

	if (header->kind != PKBPF_EVENT_ALLOC || header->size < sizeof(*record) || !record->size ||
	    record->size > PKBPF_ALLOC_MAX_BYTES || record->weight > PKBPF_ALLOC_MAX_BYTES)
		return -EBADMSG;
	if (is_call ? record->address || !record->weight
		    : !record->address || record->size > record->weight)
		return -EBADMSG;
	*ret_view = (struct alloc_view){
		.time_ns = header->time_ns,
		.stack_id = record->stack_id,
		.pid = record->pid,
		.tid = record->tid,
		.cgroup_id = record->cgroup_id,
		.address = record->address,
		.size = record->size,
		.weight = is_call ? weight_of(record->size, record->weight) : record->weight,
	};
	memcpy(ret_view->comm, record->comm, PKBPF_COMM_SIZE);
	return 0;
}

int free_event_decode(const struct pkbpf_event_header *header, struct free_view *ret_view)
{
	const struct pkbpf_event_free *record = (const void *)header;

	if (header->kind != PKBPF_EVENT_FREE || header->size < sizeof(*record))
		return -EBADMSG;
	*ret_view = (struct free_view){
		.time_ns = header->time_ns,
		.pid = record->pid,
		.tid = record->tid,
		.address = record->address,
	};
	return 0;
}

int alloc_event_encode(struct event_buffer *buffer, const struct alloc_view *view)
{
	struct pkbpf_event_alloc *record =
		event_buffer_add(buffer, sizeof(*record), PKBPF_EVENT_ALLOC, 0, view->time_ns);

	if (!record)
		return -ENOMEM;
	record->stack_id = view->stack_id;
	record->pid = view->pid;
	record->tid = view->tid;
	record->cgroup_id = view->cgroup_id;
	record->address = view->address;
	record->size = view->size;
	record->weight = view->weight;
	memcpy(record->comm, view->comm, PKBPF_COMM_SIZE);
	return 0;
}

int free_event_encode(struct event_buffer *buffer, const struct free_view *view)
{
	struct pkbpf_event_free *record =
		event_buffer_add(buffer, sizeof(*record), PKBPF_EVENT_FREE, 0, view->time_ns);

	if (!record)
		return -ENOMEM;
	record->pid = view->pid;
	record->tid = view->tid;
	record->address = view->address;
	return 0;
}
