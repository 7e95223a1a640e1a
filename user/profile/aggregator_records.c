// SPDX-License-Identifier: BSD-2-Clause
/* Finds the function that takes a record. */
#include "base/array.h"
#include "profile/aggregator_private.h"

typedef int (*take_function)(struct aggregator *aggregator,
			     const struct pkbpf_event_header *record);

static const take_function takers[] = {
#define X(kind, function) [PKBPF_EVENT_##kind] = aggregator_take_##function,
	RECORD_LIST(X)
#undef X
};

int aggregator_take_record(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	if (record->kind < ARRAY_SIZE(takers) && takers[record->kind])
		return takers[record->kind](aggregator, record);
	return aggregator_take_resource(aggregator, record);
}
