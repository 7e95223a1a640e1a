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
	uint64_t guessed; /* guessed frames not counted yet */
};

struct aggregator {
	struct aggregator_options options;
	struct profile *profile;
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

#endif
