// SPDX-License-Identifier: BSD-2-Clause
/* Adds relations of processes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event/resource_event.h"
#include "profile/aggregator_private.h"

static uint32_t stack_of_relation(struct aggregator *aggregator, struct profile *slice,
				  uint64_t stack_id, uint64_t time_ns)
{
	const struct numbered_stack *stack =
		stack_id ? aggregator_find_stack(aggregator, stack_id, time_ns) : NULL;

	return stack ? aggregator_stack_in(aggregator, slice, stack->stack) : RELATION_NO_STACK;
}

int aggregator_take_relation(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	struct profile *slice = aggregator_slice(aggregator, record->time_ns);
	struct relation_view view;
	struct relation relation;
	int err = relation_event_decode(record, &view);

	if (err)
		return err;
	relation = (struct relation){
		.kind = view.relation,
		.pid = view.pid,
		.other_pid = view.other_pid,
		.stack = stack_of_relation(aggregator, slice, view.stack_id, record->time_ns),
		.other_stack =
			stack_of_relation(aggregator, slice, view.other_stack_id, record->time_ns),
		.count = view.count,
		.value = view.value,
	};
	memcpy(relation.other_comm, view.other_comm, sizeof(relation.other_comm));
	snprintf(relation.text, sizeof(relation.text), "%s", view.text);
	err = relation_list_add(profile_relations(slice), &relation);
	/* The list is a sample; it may be full. */
	return err == -ENOSPC ? 0 : err;
}
