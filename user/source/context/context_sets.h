/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns the sums of requests, by set of labels, into records of regions. */
#ifndef PKBPF_SOURCE_CONTEXT_CONTEXT_SETS_H
#define PKBPF_SOURCE_CONTEXT_CONTEXT_SETS_H

#include <stdbool.h>

#include <pkbpf/context.h>

#include "event/encoder.h"

struct context_sets {
	volatile struct pkbpf_context_set *sets; /* of the kernel side */
	struct pkbpf_context_set *sent;		 /* as they were at the last record */
	uint32_t count;
	bool by_label; /* samples refer to sets, which have a name */
};

/* Appends what was added since the last time. -ENOMEM. */
int context_sets_drain(struct context_sets *sets, uint64_t now_ns, struct event_buffer *buffer);
/* The largest request of the next slice is its own. */
void context_sets_begin_slice(struct context_sets *sets);
/* Empties the next set of a process that has ended, from number `first` on, after it has been
 * drained; its name goes, too. Returns its number, with its key; or the number of sets: there is
 * none. */
uint32_t context_sets_release(struct context_sets *sets, uint32_t pid, uint32_t first,
			      struct pkbpf_context_set_key *ret_key, struct event_buffer *buffer);

#endif
