/* SPDX-License-Identifier: BSD-2-Clause */
/* What aggregator.c and aggregator_memory.c share; nobody else includes this. */
#ifndef PKBPF_PROFILE_AGGREGATOR_PRIVATE_H
#define PKBPF_PROFILE_AGGREGATOR_PRIVATE_H

#include "base/array.h"
#include "base/hash_map.h"
#include "profile/aggregator.h"
#include "profile/stack_builder.h"

/* A stack that was sent once, and is named by its number in the totals that follow. */
struct numbered_stack {
	uint32_t pid;
	uint32_t process; /* incarnation that had the pid when the stack came */
	uint32_t stack;	  /* in the profile */
	bool has_user_frames;
	bool named_lately; /* since others were forgotten */
	enum pkbpf_stack_end user_end;
	uint64_t guessed; /* of its frames */
};

/* One that runs, one that closes, and the one that a cut makes. */
#define OPEN_SLICES 3

struct aggregator {
	struct aggregator_options options;
	struct profile *running;
	struct profile *closing; /* the slice before, to which records may still come; or NULL */
	ARRAY_OF(struct profile *) closed; /* not taken yet, oldest first */
	struct process_table *processes;
	struct event_sink process_sink;
	struct stack_builder *builder;
	ARRAY_OF(struct numbered_stack) stacks; /* numbered by the kernel side */
	struct hash_map stack_numbers; /* stack id of the kernel side -> number in stacks */
	size_t next_merge_bytes;       /* of profile_stack_bytes() */
	bool shortening;	       /* until half of the most is left */
	uint64_t next_ended;	       /* of profile_ended_tasks() */
	size_t next_forget;	       /* of stacks.count */
};

/* Where a record of this time counts. */
struct profile *aggregator_slice(struct aggregator *aggregator, uint64_t time_ns);
/* Forgets the numbers of stacks that nothing has named lately; -ENOMEM: all stay. */
int aggregator_forget_unnamed(struct aggregator *aggregator);
void aggregator_cut(struct aggregator *aggregator, const struct cut_view *cut);
/* No other slice shares numbers with the one that runs. */
static inline bool aggregator_has_one_slice(const struct aggregator *aggregator)
{
	return !aggregator->closing && !aggregator->closed.count &&
	       !profile_shares_names(aggregator->running);
}

#endif
